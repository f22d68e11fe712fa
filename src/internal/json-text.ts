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

/**
 * A number in JSON text that would lose digits as a JavaScript number. `path` leads to it: member names and array indexes; `at` is its
 * position in the text.
 */
interface LongNumber {
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly at: number;
}

const NUMBER = /-?\d[\d.eE+-]*/uy;

/** A text without a match has no such number. */
const MAY_BE_LONG = /\d{16}|\d[eE]/u;

/** Digits that a JavaScript number always keeps. */
const KEPT_DIGITS = 15;

/** Whether the text of a JSON number may be a long id: it is beyond ±(2^53 − 1), and has more digits than a measurement such as 1.5e300. */
export function isLongNumber(text: string): boolean {
  if (!MAY_BE_LONG.test(text)) return false;
  const value = Math.abs(Number(text));
  if (value <= Number.MAX_SAFE_INTEGER) return false;
  const [digits = '', exponent] = text.split(/e/iu);
  return (
    exponent === undefined || value === Number.POSITIVE_INFINITY || digits.replace(/\D/gu, '').length > KEPT_DIGITS
  );
}

/** Finds the numbers of a valid JSON text that would lose digits, in order. */
export function* longNumbersIn(json: string): Generator<LongNumber, void> {
  if (!MAY_BE_LONG.test(json)) return;
  const path: (string | number)[] = [];
  let isName = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(json, at);
      if (isName) path[path.length - 1] = JSON.parse(json.slice(at, end + 1)) as string;
      at = end;
    } else if (code === OPEN || code === OPEN_LIST) path.push(code === OPEN ? '' : 0);
    else if (code === CLOSE || code === CLOSE_LIST) path.pop();
    else if (code === COMMA) {
      const last = path.at(-1);
      if (typeof last === 'number') path[path.length - 1] = last + 1;
    } else if (code === MINUS || isDigit(code)) {
      NUMBER.lastIndex = at;
      const [text = ''] = NUMBER.exec(json) ?? [];
      if (isLongNumber(text)) yield { path: [...path], text, at };
      at += text.length - 1;
    }
    if (!isSpace(code)) isName = code === OPEN || (code === COMMA && typeof path.at(-1) === 'string');
  }
}

export function firstLongNumber(json: string): LongNumber | null {
  return longNumbersIn(json).next().value ?? null;
}

function stringEnd(json: string, from: number): number {
  let at = from + 1;
  while (json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

const SHOWN_DIGITS = 60;

/** Returns what is wrong with a long number, and what to write instead. */
export function longNumberProblem({ text }: Pick<LongNumber, 'text'>): string {
  const shown = text.length <= SHOWN_DIGITS ? text : `${text.slice(0, SHOWN_DIGITS)}…`;
  return `${shown} does not fit into a number without losing digits; write it as a string: "${shown}"`;
}
