/** The end of a text that is in a loop is at least this long; a shorter repetition may be meant, for example a refrain. */
const CHARS = 1_000;
/** The longest piece that counts: 1,000 characters hold at least 8 copies of it. */
const MAX_PIECE_CHARS = 125;
/** The text is searched after this many new characters, so that the work is linear. */
const STEP = 250;

/** Finds out while a text arrives whether it repeats itself. Models sometimes do so until their output limit. */
export class Repetition {
  #end = '';
  #added = 0;

  /** Adds the next characters. Returns the piece that the text repeats if it is in a loop, otherwise null. */
  add(characters: string): string | null {
    this.#end += characters;
    this.#added += characters.length;
    if (this.#added < STEP || this.#end.length < CHARS) return null;
    this.#added = 0;
    const end = this.#end.slice(-CHARS);
    this.#end = end;
    for (let length = 1; length <= MAX_PIECE_CHARS; length += 1) {
      if (end.startsWith(end.slice(length))) return mayBeData(end) ? null : end.slice(0, length);
    }
    return null;
  }
}

const STRUCTURE = /["{}[\]|<>]/u;
const LITERAL = /\b(?:true|false|null|\d[\w.+-]*)\b/giu;
/** Letters of literals that are cut off at the beginning and the end of a text. */
const CUT_OFF = 8;

/** Equal rows and cells, literals and numbers may be data, for example the pixels of a picture. */
function mayBeData(text: string): boolean {
  const letters = text.replace(LITERAL, '').match(/\p{L}/gu)?.length ?? 0;
  return STRUCTURE.test(text) || (letters <= CUT_OFF && text.trim() !== '');
}
