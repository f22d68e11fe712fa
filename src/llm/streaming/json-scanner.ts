import {
  BACKSLASH,
  CLOSE,
  CLOSE_LIST,
  COLON,
  COMMA,
  isDigit,
  isLongNumber,
  isSpace,
  MINUS,
  OPEN,
  OPEN_LIST,
  QUOTE,
  SPACE,
} from '../../internal/json-text.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

const isNumeric = (code: number): boolean => '+-.0123456789Ee'.includes(String.fromCharCode(code));

/** Texts with more open brackets are rejected, because readers of the value may recurse. */
export const MAX_DEPTH = 1_000;

type State =
  | 'value'
  | 'first-item'
  | 'first-key'
  | 'key'
  | 'colon'
  | 'after-value'
  | 'end'
  | 'string'
  | 'escape'
  | 'hex'
  | 'number'
  | 'word';

const SMALL_U = 0x75;
const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]));
const ESCAPES = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

const isHex = (code: number): boolean =>
  isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);

/**
 * Recognizes JSON one character at a time.
 *
 * - It accepts a text to its end, and `isWhole` is true there, exactly if JSON.parse accepts it, except for texts with more than 1,000
 *   open brackets.
 * - It rejects the first character with which no JSON text can continue, or the end of an invalid number; nothing may be passed after that.
 * - It stores only the open brackets and the current number, not the text.
 */
class JsonGrammar {
  #state: State = 'value';
  /** The open brackets, outermost first: whether each opens an object. */
  readonly #nest: boolean[] = [];
  #isKey = false;
  #sawMember = false;
  #isTooDeep = false;
  /** The value of the current escape sequence, and whether the last one is half of a surrogate pair. */
  #escape = 0;
  #isHalf = false;
  #number = '';
  /** The current literal (true, false, null), and how many characters of it, or of four hex digits, are missing. */
  #word = '';
  #missing = 0;

  get isWhole(): boolean {
    return this.#state === 'end' || (this.#state === 'number' && this.#nest.length === 0 && NUMBER.test(this.#number));
  }

  get isInString(): boolean {
    return this.#state === 'string' || this.#state === 'escape' || this.#state === 'hex';
  }

  /** Whether the last character was a backslash in a string. */
  get isEscaped(): boolean {
    return this.#state === 'escape';
  }

  /** Whether the last escape sequence is the first half of a surrogate pair whose second half has not arrived. */
  get isHalf(): boolean {
    return this.#isHalf;
  }

  get isInNumber(): boolean {
    return this.#state === 'number';
  }

  get depth(): number {
    return this.#nest.length;
  }

  /** Whether the text was rejected only because of its open brackets. */
  get isTooDeep(): boolean {
    return this.#isTooDeep;
  }

  get sawMember(): boolean {
    return this.#sawMember;
  }

  /** Returns the position after the plain characters of the current string, which need no state change: the fast path. */
  skipPlain(chunk: string, from: number): number {
    if (this.#state !== 'string') return from;
    let at = from;
    for (; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code < SPACE) break;
    }
    if (at > from) this.#isHalf = false;
    return at;
  }

  /** Returns whether the text can continue with this character. */
  take(code: number): boolean {
    switch (this.#state) {
      case 'string':
        return this.#takeInString(code);
      case 'escape':
        return this.#takeEscape(code);
      case 'hex':
        return this.#takeHex(code);
      case 'number':
        return this.#takeInNumber(code);
      case 'word':
        return this.#takeInWord(code);
      default:
        return isSpace(code) || this.#takeBetween(code);
    }
  }

  #takeInString(code: number): boolean {
    if (code !== BACKSLASH) this.#isHalf = false;
    if (code === QUOTE) this.#state = this.#isKey ? 'colon' : this.#afterValue();
    else if (code === BACKSLASH) this.#state = 'escape';
    else return code >= SPACE;
    return true;
  }

  #takeEscape(code: number): boolean {
    if (code === SMALL_U) {
      this.#state = 'hex';
      this.#missing = 4;
      this.#escape = 0;
      return true;
    }
    this.#isHalf = false;
    if (ESCAPES.has(code)) this.#state = 'string';
    return this.#state === 'string';
  }

  #takeHex(code: number): boolean {
    this.#missing -= 1;
    this.#escape = this.#escape * 16 + Number.parseInt(String.fromCharCode(code), 16);
    if (this.#missing === 0) {
      this.#state = 'string';
      this.#isHalf = this.#escape >= 0xd800 && this.#escape < 0xdc00;
    }
    return isHex(code);
  }

  #takeInNumber(code: number): boolean {
    if (isNumeric(code)) {
      this.#number += String.fromCharCode(code);
      return true;
    }
    if (!NUMBER.test(this.#number)) return false;
    this.#state = this.#afterValue();
    return isSpace(code) || this.#takeBetween(code);
  }

  #takeInWord(code: number): boolean {
    const expected = this.#word.charCodeAt(this.#word.length - this.#missing);
    this.#missing -= 1;
    if (this.#missing === 0) this.#state = this.#afterValue();
    return code === expected;
  }

  #takeBetween(code: number): boolean {
    switch (this.#state) {
      case 'colon':
        this.#state = 'value';
        return code === COLON;
      case 'after-value':
        if (code !== COMMA) return this.#close(code);
        this.#state = this.#nest.at(-1) ? 'key' : 'value';
        return true;
      case 'first-key':
        return code === QUOTE ? this.#openString(true) : this.#close(code);
      case 'key':
        return code === QUOTE && this.#openString(true);
      case 'first-item':
        return code === CLOSE_LIST ? this.#close(code) : this.#begin(code);
      case 'value':
        return this.#begin(code);
      default:
        return false;
    }
  }

  #begin(code: number): boolean {
    if (code === QUOTE) return this.#openString(false);
    if (code === OPEN || code === OPEN_LIST) return this.#open(code === OPEN);
    const word = WORDS.get(code);
    if (code === MINUS || isDigit(code)) {
      this.#number = String.fromCharCode(code);
      this.#state = 'number';
    } else if (word !== undefined) {
      this.#word = word;
      this.#missing = word.length - 1;
      this.#state = 'word';
    } else return false;
    return true;
  }

  #openString(isKey: boolean): boolean {
    this.#isKey = isKey;
    this.#sawMember ||= isKey;
    this.#state = 'string';
    return true;
  }

  #open(isObject: boolean): boolean {
    this.#isTooDeep = this.#nest.length === MAX_DEPTH;
    if (this.#isTooDeep) return false;
    this.#nest.push(isObject);
    this.#state = isObject ? 'first-key' : 'first-item';
    return true;
  }

  #close(code: number): boolean {
    if (code !== (this.#nest.at(-1) ? CLOSE : CLOSE_LIST)) return false;
    this.#nest.pop();
    this.#state = this.#afterValue();
    return true;
  }

  #afterValue(): State {
    return this.#nest.length === 0 ? 'end' : 'after-value';
  }
}

/**
 * Text that may be one JSON text, read chunk by chunk, and the part of it that an incremental parser should get.
 *
 * - The parser gets only valid beginnings of JSON.
 * - It gets a number only when it is complete, and a run of whitespace outside strings as one character, because jsonriver would scan
 *   both again with every chunk.
 * - It gets the escape sequences of a surrogate pair together.
 * - It gets nothing from the first number that would lose digits, because the value is rejected and must not be shown rounded.
 * - Each character is read once; those of a number at the end of a chunk twice.
 */
export class JsonCandidate {
  readonly #grammar = new JsonGrammar();
  readonly #endsAtBracket: boolean;
  #state: 'open' | 'whole' | 'broken' = 'open';
  #isAfterSpace = false;
  /** A number, or half of a surrogate pair, whose end has not arrived. */
  #waiting = '';
  #view = '';
  #isMuted = false;

  /** `endsAtBracket`: the text ends where its first bracket closes, instead of at the end of input. */
  constructor({ endsAtBracket }: { readonly endsAtBracket: boolean }) {
    this.#endsAtBracket = endsAtBracket;
  }

  get state(): 'open' | 'whole' | 'broken' {
    return this.#state;
  }

  /** The state of the accepted part, for skipping the rest of a broken one. */
  get grammar(): Pick<JsonGrammar, 'depth' | 'isInString' | 'isEscaped' | 'isTooDeep' | 'sawMember'> {
    return this.#grammar;
  }

  /** Reads a chunk from a position. Returns where it stopped: the chunk's end, after the value, or at the invalid character. */
  read(chunk: string, from: number): number {
    const grammar = this.#grammar;
    let kept = from;
    let numberFrom = grammar.isInNumber ? from : -1;
    let halfFrom = grammar.isHalf ? from : -1;
    let carried = grammar.isInNumber ? this.#waiting : '';
    for (let at = grammar.skipPlain(chunk, from); at < chunk.length; at = grammar.skipPlain(chunk, at + 1)) {
      const code = chunk.charCodeAt(at);
      if (!grammar.take(code)) {
        this.#state = 'broken';
        return at;
      }
      if (!grammar.isHalf) halfFrom = -1;
      else if (halfFrom === -1) halfFrom = at;
      if (grammar.isInNumber) numberFrom = numberFrom === -1 ? at : numberFrom;
      else if (numberFrom !== -1) {
        if (!this.#isMuted && isLongNumber(carried + chunk.slice(numberFrom, at))) {
          this.#waiting = '';
          this.#emit(chunk.slice(kept, numberFrom));
          this.#isMuted = true;
        }
        numberFrom = -1;
        carried = '';
      }
      const isGap = isSpace(code) && !grammar.isInString;
      if (isGap && this.#isAfterSpace) {
        this.#emit(chunk.slice(kept, at));
        kept = at + 1;
      }
      this.#isAfterSpace = isGap;
      if (this.#endsAtBracket && (code === CLOSE || code === CLOSE_LIST) && grammar.isWhole) {
        this.#state = 'whole';
        this.#emit(chunk.slice(kept, at + 1));
        return at + 1;
      }
    }
    this.#emitRest(chunk, kept, grammar.isHalf ? halfFrom : chunk.length);
    return chunk.length;
  }

  end(): void {
    if (this.#state === 'open' && this.#grammar.isWhole) this.#state = 'whole';
  }

  /** Returns the new text for the parser. */
  takeView(): string {
    const view = this.#view;
    this.#view = '';
    return view;
  }

  #emit(json: string): void {
    if (json === '' || this.#isMuted) return;
    this.#view += this.#waiting === '' ? json : this.#waiting + json;
    this.#waiting = '';
  }

  /** Passes on a chunk, except for a number or half of a surrogate pair at its end. */
  #emitRest(chunk: string, from: number, to: number): void {
    let end = to;
    if (this.#grammar.isInNumber) while (end > from && isNumeric(chunk.charCodeAt(end - 1))) end -= 1;
    if (this.#grammar.isInNumber || end < chunk.length) {
      this.#emit(chunk.slice(from, end));
      this.#waiting += chunk.slice(end);
    } else this.#emit(from === 0 ? chunk : chunk.slice(from));
  }
}
