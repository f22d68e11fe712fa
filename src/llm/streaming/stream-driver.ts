import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { clippedLine } from '../../../machines/text/clip.ts';
import { BracketBalance, CLOSE, CLOSE_LIST, isSpace, OPEN, OPEN_LIST, QUOTE } from '../../internal/json-text.ts';
import { JsonCandidate, MAX_DEPTH } from './json-scanner.ts';
import { type DeltaPart, GrowingText } from './part-source.ts';
import { quotedName } from './quoted-name.ts';
import { type ThoughtMark, ThoughtMarks, withoutThought } from './thought.ts';

/** `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the JSON value in the reply's text while it arrives. It parses nothing: it locates the value, and returns the text of the
 * current candidate for an incremental parser.
 */
export interface JsonFinder {
  /** Reads the next chunk. Returns the text to pass to the current candidate's parser. */
  push(chunk: string): string;
  /** Ends the text, which is given as a whole. */
  end(text: string): void;
  /** The number of the current candidate; a parser of an earlier one is obsolete. */
  readonly candidate: number;
  /** The value, as soon as it is certain. */
  readonly found: Span | null;
  /** The value if nothing better was found. */
  readonly fallback: Span | null;
  /** The same if the text was cut off, so that something better may be missing. */
  readonly fallbackIfCut: Span | null;
  /** Whether a fallback may have been shown while it arrived. */
  readonly showsFallback: boolean;
  /** Why nothing was found. */
  readonly miss: Miss;
}

/** `unfinished`: a candidate did not end. `too-deep`: one had too many open brackets. */
export type Miss = 'none' | 'unfinished' | 'too-deep';

/** A found value; it may be null. `failure`: why it cannot be used. */
export interface FoundValue {
  readonly value: unknown;
  readonly failure?: Failure;
}

/** A reply that is not searched for JSON: calls of offered tools, or prose. It grows while it arrives. */
export interface UnsearchedReply {
  readonly areCalls: boolean;
  /** Adds the characters of the part that was claimed last. */
  push(chunk: string): void;
  soFar(): unknown;
  /** Returns the value at the end of the stream, or null if there is none or the output limit cut it off. */
  whole(reason: FinishReason | null): FoundValue | null | Promise<FoundValue | null>;
  describe(): string;
}

export interface MissingValue {
  readonly text: string;
  readonly miss: Miss;
  readonly reason: FinishReason | null;
}

/**
 * How a reply is read from a model's stream, for one reply form: which characters belong to the reply, and which finder reads them.
 * Replies, partials and failures have the same shape for every driver. A driver serves one stream.
 */
export interface StreamDriver {
  readonly finder: JsonFinder;
  /**
   * Records the next part and returns whether its characters belong to the reply. Call it once per part, in order. The
   * characters of any other part only show that the model is still sending.
   */
  claim(part: DeltaPart): boolean;
  /** Receives the reply's characters in place of the finder; for tool calls, once one has started. */
  readonly unsearched: UnsearchedReply | null;
  /** The JSON text of a reply that the server sent as reasoning; null if the reasoning is anything but one object. */
  readonly misplaced: string | null;
  /** Returns the prose of a reply without JSON, given its own text; empty if JSON started in it. */
  proseIn(text: string): string;
  failureOf(missing: MissingValue): Failure;
}

/**
 * The tools that a model may call instead of replying. `valueOf` converts the calls and the text before them to the reply's value. `wrap` makes
 * the driver of the reply read the calls, too: programs that offer no tools do not load it.
 */
export interface OfferedTools {
  readonly wrap: (driver: StreamDriver, offered: OfferedTools, options: WrapOptions) => StreamDriver;
  readonly names: ReadonlySet<string>;
  readonly valueOf: (calls: readonly OfferedCall[], textBefore: string) => unknown;
}

/** `id` is the provider's, or empty. `arguments` is JSON text. */
export interface OfferedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface WrapOptions {
  /** Whether the given driver reads JSON in text, which then is not kept as the text before the calls. */
  readonly readsJsonText: boolean;
  /** The tool whose arguments are the reply itself; null if the reply is text. */
  readonly replyTool: string | null;
}

/** Returns a driver for replies that are JSON in text, possibly surrounded by prose and fences. */
export function createTextDriver({ acceptsList }: { readonly acceptsList: boolean }): StreamDriver {
  const finder = new ProseFinder({ acceptsList });
  const reasoning = new ReasonedReply();
  let tool: string | null = null;
  return {
    finder,
    claim(part) {
      if (part.type === 'tool-call-delta') tool ??= part.name;
      if (part.type === 'reasoning-delta') reasoning.add(part.text);
      return part.type === 'text-delta';
    },
    unsearched: null,
    get misplaced() {
      return tool === null ? reasoning.whole() : null;
    },
    proseIn: (text) => (finder.miss === 'none' ? withoutThought(text) : ''),
    failureOf(missing) {
      const isCallInstead = tool !== null && missing.text.trim() === '' && missing.reason !== 'length';
      return isCallInstead ? calledFailure(tool ?? '') : missingValueFailure(missing);
    },
  };
}

/** Keeps reasoning as long as it may be one JSON object: if a model skips its reasoning, some servers report its reply as reasoning. */
class ReasonedReply {
  readonly #json = new JsonCandidate({ endsAtBracket: false });
  readonly #text = new GrowingText();
  #isObject: boolean | null = null;

  add(chunk: string): void {
    if (this.#isObject === false) return;
    const first = chunk.trimStart().charAt(0);
    if (first !== '') this.#isObject ??= first === '{';
    this.#text.add(chunk);
    this.#json.read(chunk, 0);
    this.#json.takeView();
    if (this.#json.state === 'broken') this.#isObject = false;
  }

  whole(): string | null {
    this.#json.end();
    return this.#isObject === true && this.#json.state === 'whole' ? this.#text.text.trim() : null;
  }
}

function calledFailure(tool: string): Failure {
  const message = `The reply calls the tool ${quotedName(tool)}, which was not offered; expected one JSON object in its text.`;
  return failureOf('extraction', 'empty_reply', message);
}

function missingValueFailure({ text, miss, reason }: MissingValue): Failure {
  if (miss === 'too-deep')
    return failureOf(
      'extraction',
      'too_deep',
      `The JSON in the reply has more than ${MAX_DEPTH} open brackets; expected a flatter one.`,
    );
  if (reason === 'length')
    return failureOf('extraction', 'truncated', 'The reply was cut off at the output limit before its JSON ended.');
  if (text.trim() === '')
    return failureOf('extraction', 'empty_reply', 'The reply is empty; expected one JSON object.');
  const said = withoutThought(text).trim();
  if (said === '')
    return failureOf('extraction', 'no_json', 'The reply contains only reasoning; expected one JSON object after it.');
  if (miss === 'unfinished')
    return failureOf('extraction', 'no_json', 'The JSON in the reply does not end; expected one complete JSON object.');
  return failureOf(
    'extraction',
    'no_json',
    `The reply contains no valid JSON; expected one JSON object. It begins “${clippedLine(said, QUOTED_CHARS)}”.`,
  );
}

/** Characters of a reply that a failure quotes. */
export const QUOTED_CHARS = 120;

/** The characters that, after a bracket and whitespace, make it the start of JSON; other brackets are prose. */
const beginsObject = (code: number): boolean => code === QUOTE || code === CLOSE;
const LIST_BEGINNINGS = new Set([...'{["]-0123456789tfn'].map((character) => character.charCodeAt(0)));

/**
 * Finds one JSON object in prose and fences: the first complete one.
 *
 * - Invalid JSON is skipped up to where its brackets balance, so that no part of a broken object is mistaken for the value.
 * - An array that breaks before any object in it has a member is prose, for example a half-open interval: the search continues there.
 * - A complete array is not an object: its content is not searched, and a later object wins (`as in [1]: {"a":1}`). The same applies to
 *   `{}`. If no object follows, not even an unfinished one, the value is the last `{}`, or else the last array.
 * - With `acceptsList`, an array is shown while it arrives, and the value is the last non-empty array if no object follows it: models
 *   think aloud before they answer, and write `[ ]` and `[1]` in prose.
 * - A leading block of reasoning, such as `<think>…</think>`, is skipped. A value before a `</think>` without a `<think>` does not count.
 *   If the block begins elsewhere, a value before it counts only if none follows.
 * - Each character is read once or twice.
 */
class ProseFinder implements JsonFinder {
  readonly #acceptsList: boolean;
  readonly #marks = new ThoughtMarks();
  /** The beginning of reasoning whose end has not arrived. */
  #thought: ThoughtMark | null = null;
  /** Whether that reasoning is skipped, because nothing precedes it. */
  #isThinking = false;
  /** Where the first text is, at the start or after the last reasoning. */
  #firstText: number | null = null;
  /** The end of a mark within a string, which may be reasoning that broke off within a value. */
  #hiddenEnd: number | null = null;
  /** A value that precedes reasoning. */
  #earlier: Span | null = null;
  #json: JsonCandidate | null = null;
  #skipped: BracketBalance | null = null;
  #candidate = 0;
  #found: Span | null = null;
  #emptyObject: Span | null = null;
  #emptyList: Span | null = null;
  #list: Span | null = null;
  /** The end of an accepted array, for its parser. */
  #rest = '';
  #sawTooDeep = false;
  /** The number of characters before the current chunk. */
  #before = 0;
  /** The bracket that started the candidate, or the last bracket if only whitespace has followed it; otherwise 0. */
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
    if (this.#earlier !== null) return this.#earlier;
    if (this.#acceptsList) return this.#list ?? this.#emptyList ?? this.#emptyObject;
    return this.#emptyObject ?? this.#list ?? this.#emptyList;
  }

  get fallbackIfCut(): Span | null {
    return this.#isSearching ? (this.#earlier ?? (this.#acceptsList ? this.#list : null)) : null;
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
    let at = 0;
    for (const mark of this.#marks.in(chunk)) {
      this.#readTo(chunk, at, mark.to - this.#before);
      at = mark.to - this.#before;
      this.#takeMark(mark);
    }
    this.#readTo(chunk, at, chunk.length);
    this.#before += chunk.length;
    const view = this.#rest + (this.#json?.takeView() ?? '');
    this.#rest = '';
    return this.#bracket === OPEN || this.#acceptsList ? view : '';
  }

  /** Reasoning may break off within a string: `{"a":"x</think>{"a":1}`. Only what cannot be a part of the broken value counts then. */
  end(text: string): void {
    if (this.#hiddenEnd === null || this.#found !== null || this.#json !== null) return;
    const reply = text.slice(this.#hiddenEnd);
    const rest = new ProseFinder({ acceptsList: this.#acceptsList });
    rest.push(reply);
    const { found } = rest;
    if (found === null || reply.slice(0, found.from).includes('"') || /[}\]]/u.test(reply.slice(found.to))) return;
    this.#skipped = null;
    this.#found = { from: this.#hiddenEnd + found.from, to: this.#hiddenEnd + found.to };
  }

  #readTo(chunk: string, from: number, to: number): void {
    if (this.#isThinking) return;
    const piece = to === chunk.length ? chunk : chunk.slice(0, to);
    const space = this.#firstText === null ? (/\S/u.exec(piece.slice(from))?.index ?? -1) : -1;
    if (space !== -1) this.#firstText = this.#before + from + space;
    for (let at = from; at < to && this.#found === null; ) {
      if (this.#json !== null) at = this.#read(piece, at, this.#json);
      else if (this.#skipped !== null) at = this.#skip(piece, at, this.#skipped);
      else at = this.#search(piece, at);
    }
  }

  #takeMark(mark: ThoughtMark): void {
    const { from, to, family, isEnd } = mark;
    if (this.#json?.state === 'open' && this.#json.grammar.isInString) {
      if (isEnd) this.#hiddenEnd = to;
      return;
    }
    if (!isEnd) {
      if (this.#thought !== null) return;
      this.#thought = mark;
      this.#isThinking = this.#firstText === from;
      return;
    }
    const isPaired = this.#thought?.family === family;
    if (this.#isThinking && !isPaired) return;
    const value = this.#found ?? this.fallback;
    const isBefore = value !== null && value.from < (this.#thought?.from ?? 0);
    this.#earlier = isPaired && isBefore ? value : null;
    this.#restart();
  }

  /** Drops what was found in reasoning. */
  #restart(): void {
    this.#thought = null;
    this.#isThinking = false;
    this.#firstText = null;
    this.#json = null;
    this.#skipped = null;
    this.#found = null;
    this.#emptyObject = null;
    this.#emptyList = null;
    this.#list = null;
    this.#rest = '';
    this.#bracket = 0;
    this.#hiddenEnd = null;
    this.#sawTooDeep = false;
  }

  /** Looks for a bracket whose next character makes it the start of JSON; that character is left for the candidate. */
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
      this.#accept({ from: this.#bracketAt, to: this.#before + at });
      this.#rest = json.takeView();
    } else this.#skipBroken(json.grammar);
    if (this.#found === null) {
      this.#json = null;
      this.#bracket = 0;
    }
    return at;
  }

  #accept(span: Span): void {
    this.#hiddenEnd = null;
    if (this.#bracket === OPEN && !this.#isEmpty) this.#found = span;
    else if (this.#bracket === OPEN) this.#emptyObject = span;
    else if (this.#isEmpty) this.#emptyList = span;
    else this.#list = span;
  }

  #skipBroken(broken: JsonCandidate['grammar']): void {
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
