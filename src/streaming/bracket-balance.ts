import { BACKSLASH, CLOSE, CLOSE_LIST, OPEN, OPEN_LIST, QUOTE } from './characters.ts';

/**
 * Finds the end of what looked like JSON and is none: where as many brackets have closed as were open, whichever they are, those in
 * strings left out.
 */
export class BracketBalance {
  #depth: number;
  #isInString: boolean;
  #isEscaped: boolean;

  constructor(begun: { readonly depth: number; readonly isInString: boolean; readonly isEscaped: boolean }) {
    this.#depth = begun.depth;
    this.#isInString = begun.isInString;
    this.#isEscaped = begun.isEscaped;
  }

  /** The place behind the last bracket; -1 where the chunk ends before it. */
  endIn(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      this.#take(chunk.charCodeAt(at));
      if (this.#depth === 0) return at + 1;
    }
    return -1;
  }

  #take(code: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#isInString = false;
    } else if (code === QUOTE) this.#isInString = true;
    else if (code === OPEN || code === OPEN_LIST) this.#depth += 1;
    else if (code === CLOSE || code === CLOSE_LIST) this.#depth -= 1;
  }
}
