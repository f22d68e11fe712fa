import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { BracketBalance, CLOSE, CLOSE_LIST, isSpace, OPEN, OPEN_LIST, QUOTE } from '../../internal/json-text.ts';
import { JsonCandidate, MAX_DEPTH } from './json-scanner.ts';
import type { JsonFinder, Miss, Span, StreamDriver, Unfound } from './stream-driver.ts';

/** Reads a reply that is JSON in text, with prose and fences around it: all text is the reply’s own. */
export function createTextDriver({ acceptsList }: { readonly acceptsList: boolean }): StreamDriver {
  return {
    finder: new ProseFinder({ acceptsList }),
    owns: (part) => part.type === 'text-delta',
    call: null,
    failureOf: whyNone,
  };
}

function whyNone({ text, miss, reason }: Unfound): Failure {
  if (miss === 'too-deep')
    return failureOf(
      'extraction',
      'too_deep',
      `The JSON in the reply has more than ${MAX_DEPTH} open brackets; wanted a flatter one.`,
    );
  if (reason === 'length')
    return failureOf('extraction', 'truncated', 'The reply was cut off at the output limit before its JSON ended.');
  if (text.trim() === '') return failureOf('extraction', 'empty_reply', 'The reply is empty; wanted one JSON object.');
  if (miss === 'unfinished')
    return failureOf('extraction', 'no_json', 'The JSON in the reply does not end; wanted one whole JSON object.');
  return failureOf('extraction', 'no_json', 'The reply holds no valid JSON; wanted one JSON object.');
}

/** What makes a bracket, with white space between, the beginning of JSON; other brackets are prose. */
const beginsObject = (code: number): boolean => code === QUOTE || code === CLOSE;
const LIST_BEGINNINGS = new Set([...'{["]-0123456789tfn'].map((character) => character.charCodeAt(0)));

/**
 * Finds one JSON object in prose and fences: the first whole one.
 *
 * 1. What looked like JSON and is none is left out to where its brackets balance: nothing within a broken one is taken for the whole.
 * 2. A list that breaks before any object in it has a member is prose, a half-open interval say: the search goes on at that place.
 * 3. A whole list is no object: what stands in it is not taken, and an object behind it wins (`as in [1]: {"a":1}`). So it is with
 * `{}`. Where neither an object nor the beginning of one follows, the value is the last `{}`, or else the last list.
 * 4. With `acceptsList` a list is shown while it comes, and the value is the last list that is not empty, if no object follows it:
 * models think aloud before they answer, and put `[ ]` and `[1]` into their prose. 5. What stands in a leading `<think>` is left out.
 * 6. Each character is looked at once or twice.
 */
export class ProseFinder implements JsonFinder {
  readonly #acceptsList: boolean;
  readonly #thought = new LeadingThought();
  #json: JsonCandidate | null = null;
  #skipped: BracketBalance | null = null;
  #candidate = 0;
  #found: Span | null = null;
  #emptyObject: Span | null = null;
  #emptyList: Span | null = null;
  #list: Span | null = null;
  /** The end of an accepted list, for its parser. */
  #rest = '';
  #sawTooDeep = false;
  /** The characters before the chunk under way. */
  #before = 0;
  /** The bracket that the candidate began with; or else the last one, where nothing but white space has followed. */
  #bracket = 0;
  #bracketAt = 0;
  #isEmpty = false;

  constructor({ acceptsList }: { readonly acceptsList: boolean }) {
    this.#acceptsList = acceptsList;
  }

  get candidate(): number {
    return this.#candidate;
  }

  get found(): Span | null {
    return this.#found;
  }

  get fallback(): Span | null {
    if (!this.#isSearching) return null;
    if (this.#acceptsList) return this.#list ?? this.#emptyList ?? this.#emptyObject;
    return this.#emptyObject ?? this.#list ?? this.#emptyList;
  }

  get fallbackIfCut(): Span | null {
    return this.#acceptsList && this.#isSearching ? this.#list : null;
  }

  get showsFallback(): boolean {
    return this.#acceptsList;
  }

  get miss(): Miss {
    if (this.#sawTooDeep) return 'too-deep';
    return this.#isSearching || this.#found !== null ? 'none' : 'unfinished';
  }

  get #isSearching(): boolean {
    return this.#json === null && this.#skipped === null;
  }

  push(chunk: string): string {
    let at = this.#thought.endIn(chunk);
    while (at < chunk.length && this.#found === null) {
      if (this.#json !== null) at = this.#read(chunk, at, this.#json);
      else if (this.#skipped !== null) at = this.#skip(chunk, at, this.#skipped);
      else at = this.#search(chunk, at);
    }
    this.#before += chunk.length;
    const view = this.#rest + (this.#json?.takeView() ?? '');
    this.#rest = '';
    return this.#bracket === OPEN || this.#acceptsList ? view : '';
  }

  end(): void {}

  /** Looks for the character that makes a bracket a beginning; that character is left for the candidate. */
  #search(chunk: string, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (this.#bracket === OPEN ? beginsObject(code) : this.#bracket === OPEN_LIST && LIST_BEGINNINGS.has(code)) {
        this.#isEmpty = code === CLOSE || code === CLOSE_LIST;
        this.#rest = '';
        this.#json = new JsonCandidate({ endsAtBracket: true });
        this.#json.read(String.fromCharCode(this.#bracket), 0);
        this.#candidate += 1;
        return at;
      }
      if (code === OPEN || code === OPEN_LIST) {
        this.#bracket = code;
        this.#bracketAt = this.#before + at;
      } else if (!isSpace(code)) this.#bracket = 0;
    }
    return chunk.length;
  }

  #read(chunk: string, from: number, json: JsonCandidate): number {
    const at = json.read(chunk, from);
    if (json.state === 'open') return at;
    if (json.state === 'whole') {
      this.#take({ from: this.#bracketAt, to: this.#before + at });
      this.#rest = json.takeView();
    } else this.#leave(json.grammar);
    if (this.#found === null) {
      this.#json = null;
      this.#bracket = 0;
    }
    return at;
  }

  #take(span: Span): void {
    if (this.#bracket === OPEN && !this.#isEmpty) this.#found = span;
    else if (this.#bracket === OPEN) this.#emptyObject = span;
    else if (this.#isEmpty) this.#emptyList = span;
    else this.#list = span;
  }

  #leave(broken: JsonCandidate['grammar']): void {
    this.#sawTooDeep ||= broken.isTooDeep;
    if (this.#bracket === OPEN_LIST && !broken.sawMember && !broken.isTooDeep) return;
    this.#emptyObject = null;
    this.#list = null;
    this.#emptyList = null;
    this.#skipped = new BracketBalance(broken);
  }

  #skip(chunk: string, from: number, skipped: BracketBalance): number {
    const at = skipped.endIn(chunk, from);
    if (at === -1) return chunk.length;
    this.#skipped = null;
    return at;
  }
}

const THINK_START = '<think>';
const THINK_END = '</think>';

/**
 * What a model thinks aloud at the beginning of its text, between `<think>` and `</think>`, as DeepSeek's and Qwen's do behind servers
 * that leave it there. It is no part of the reply: JSON in it was weighed, not said.
 */
export class LeadingThought {
  #state: 'unknown' | 'open' | 'over' = 'unknown';
  /** The last characters that may be a part of the next tag. */
  #tail = '';

  /** The place in the next chunk where the reply begins; its length while that is not known. */
  endIn(chunk: string): number {
    if (this.#state === 'over') return 0;
    const known = this.#tail.length;
    const text = this.#tail + chunk;
    if (this.#state === 'unknown') {
      const begun = text.trimStart();
      if (begun.length < THINK_START.length && THINK_START.startsWith(begun)) {
        this.#tail = begun;
        return chunk.length;
      }
      this.#state = begun.startsWith(THINK_START) ? 'open' : 'over';
      if (this.#state === 'over') return 0;
    }
    const end = text.indexOf(THINK_END);
    if (end === -1) {
      this.#tail = text.slice(1 - THINK_END.length);
      return chunk.length;
    }
    this.#state = 'over';
    return end + THINK_END.length - known;
  }
}
