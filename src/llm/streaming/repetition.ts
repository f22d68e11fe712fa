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
/** A word or number at the beginning or end of a text may be cut off. */
const CUT_OFF = /^[\p{L}\d.]{1,20}(?![\p{L}\d.])|(?<![\p{L}\d.])[\p{L}\d.]{1,20}$/gu;
const LITERAL = /(?<![\p{L}\d])(?:true|false|null|\d[\w.+-]*)(?![\p{L}\d])/giu;

/** Equal rows and cells, literals and numbers may be data, for example the pixels of a picture. */
function mayBeData(text: string): boolean {
  if (STRUCTURE.test(text)) return true;
  const others = text.replace(CUT_OFF, '').replace(LITERAL, '');
  return /\S/u.test(text) && !/\p{L}/u.test(others);
}
