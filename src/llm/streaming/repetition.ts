/** The end of a text that is in a loop is at least this long; a shorter repetition may be meant, for example a refrain. */
const CHARS = 1_000;
const MIN_COPIES = 8;
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
    this.#end = this.#end.slice(-CHARS);
    const piece = this.#end.slice(0, periodOf(this.#end));
    return piece.length * MIN_COPIES <= CHARS && !mayBeData(piece) ? piece : null;
  }
}

/** Returns the length of the shortest piece of which a text consists; its last copy may be incomplete. From the failure function of KMP. */
function periodOf(text: string): number {
  const borders = [0];
  for (let at = 1, length = 0; at < text.length; at += 1) {
    while (length > 0 && text[at] !== text[length]) length = borders[length - 1] ?? 0;
    if (text[at] === text[length]) length += 1;
    borders.push(length);
  }
  return text.length - (borders.at(-1) ?? 0);
}

/** Brackets or one number again and again may be data, for example the pixels of a picture. */
function mayBeData(piece: string): boolean {
  return !/\p{L}|^\s+$/u.test(piece) && new Set(piece.match(/\d+(?:\.\d+)?/gu)).size <= 1;
}
