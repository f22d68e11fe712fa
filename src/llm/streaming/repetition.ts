/** The end of a text that is in a loop is at least this long; a shorter repetition may be meant, for example a refrain. */
const CHARS = 1_000;
/** Of the piece that is repeated: at least 8 copies. */
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
      const piece = end.slice(0, length);
      if (end.startsWith(end.slice(length))) return mayBeData(piece) ? null : piece;
    }
    return null;
  }
}

/** Brackets or one number again and again may be data, for example the pixels of a picture. */
const mayBeData = (piece: string): boolean =>
  !/\p{L}|^\s+$/u.test(piece) && new Set(piece.match(/\d+(?:\.\d+)?/gu)).size <= 1;
