export const SPACE = 0x20;
export const [QUOTE, BACKSLASH, COLON, COMMA, MINUS] = [0x22, 0x5c, 0x3a, 0x2c, 0x2d] as const;
export const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

const [TAB, NEW_LINE, RETURN] = [0x09, 0x0a, 0x0d] as const;

/** Whether a character is JSON whitespace; no other Unicode space counts. */
export const isSpace = (code: number): boolean =>
  code === SPACE || code === NEW_LINE || code === RETURN || code === TAB;

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** A position in JSON: how many brackets are open, and whether it is inside a string. */
interface Position {
  readonly depth: number;
  readonly isInString: boolean;
  readonly isEscaped: boolean;
}

const START: Position = { depth: 0, isInString: false, isEscaped: false };

/**
 * Counts the open brackets of text that may be JSON, ignoring those in strings. It reads each character once, and does not check that
 * brackets match.
 */
export class BracketBalance {
  #depth: number;
  #isInString: boolean;
  #isEscaped: boolean;

  constructor({ depth, isInString, isEscaped }: Position = START) {
    this.#depth = depth;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
  }

  /** Whether a string, an object or an array is still open. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#isInString;
  }

  /** Returns the position after the last closing bracket, or -1 if the chunk ends before it. */
  endIn(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      this.#take(chunk.charCodeAt(at));
      if (this.#depth === 0) return at + 1;
    }
    return -1;
  }

  add(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#take(text.charCodeAt(at));
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

/** Parses JSON; returns undefined if the text is not valid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
