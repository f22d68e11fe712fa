import {
  BACKSLASH,
  CLOSE,
  CLOSE_LIST,
  COLON,
  COMMA,
  isDigit,
  isSpace,
  OPEN,
  OPEN_LIST,
  QUOTE,
  SPACE,
} from '../../internal/characters.ts';
import { beginNumber, goOnInNumber, mayEndAt, type NumberPhase } from './json-number.ts';

/** More open brackets than this are refused: whoever reads the value later may recurse. */
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
 * The grammar of JSON, one character at a time.
 *
 * 1. A text is taken to its end, and is `isWhole` there, exactly where JSON.parse takes it, but for texts of more than 1,000 open
 * brackets. 2. It is refused at the first character that no JSON text can go on with; after that nothing more may be given. 3. It
 * keeps nothing of the text: its memory is the open brackets.
 */
export class JsonGrammar {
  #state: State = 'value';
  /** The open brackets, outermost first: whether each is an object’s. */
  readonly #nest: boolean[] = [];
  #isKey = false;
  #sawMember = false;
  #isTooDeep = false;
  #number: NumberPhase = 'minus';
  /** The word under way, and how much is still to come of it, or of four hexadecimal digits. */
  #word = '';
  #missing = 0;

  get isWhole(): boolean {
    return this.#state === 'end' || (this.#state === 'number' && this.#nest.length === 0 && mayEndAt(this.#number));
  }

  get isInString(): boolean {
    return this.#state === 'string' || this.#state === 'escape' || this.#state === 'hex';
  }

  /** Behind a backslash. */
  get isEscaped(): boolean {
    return this.#state === 'escape';
  }

  get isInNumber(): boolean {
    return this.#state === 'number';
  }

  get depth(): number {
    return this.#nest.length;
  }

  /** It was refused for its open brackets alone. */
  get isTooDeep(): boolean {
    return this.#isTooDeep;
  }

  /** A member of some object has begun. */
  get sawMember(): boolean {
    return this.#sawMember;
  }

  /** The place behind the plain characters of a string under way, which are most of a text: each is as good as taken. */
  passPlain(chunk: string, from: number): number {
    if (this.#state !== 'string') return from;
    let at = from;
    for (; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code < SPACE) break;
    }
    return at;
  }

  /** Whether the text can go on with this character. */
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
    if (code === QUOTE) this.#state = this.#isKey ? 'colon' : this.#afterValue();
    else if (code === BACKSLASH) this.#state = 'escape';
    else return code >= SPACE;
    return true;
  }

  #takeEscape(code: number): boolean {
    if (code === SMALL_U) {
      this.#state = 'hex';
      this.#missing = 4;
      return true;
    }
    if (ESCAPES.has(code)) this.#state = 'string';
    return this.#state === 'string';
  }

  #takeHex(code: number): boolean {
    this.#missing -= 1;
    if (this.#missing === 0) this.#state = 'string';
    return isHex(code);
  }

  #takeInNumber(code: number): boolean {
    const next = goOnInNumber(this.#number, code);
    if (next !== null) {
      this.#number = next;
      return true;
    }
    if (!mayEndAt(this.#number)) return false;
    this.#state = this.#afterValue();
    return isSpace(code) || this.#takeBetween(code);
  }

  #takeInWord(code: number): boolean {
    const wanted = this.#word.charCodeAt(this.#word.length - this.#missing);
    this.#missing -= 1;
    if (this.#missing === 0) this.#state = this.#afterValue();
    return code === wanted;
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
    const number = beginNumber(code);
    const word = WORDS.get(code);
    if (number !== null) {
      this.#number = number;
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
