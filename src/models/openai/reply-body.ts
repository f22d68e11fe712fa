import { createParser } from 'eventsource-parser';
import type { Timers } from '../../internal/async.ts';
import { ResponseTooLarge } from '../../internal/bounded-body.ts';
import { BracketBalance } from '../../internal/json-text.ts';

/** How long a whole reply waits for the end of its body, so that the connection can be used again. */
export const END_GRACE_MS = 100;

interface ReplyBodyOptions {
  readonly timers: Timers;
  /** The maximum length of one event, or of an answer that is not streamed, in characters. */
  readonly maxChars: number;
}

/**
 * Reads the JSON values of a reply: of each server-sent event, of each line, or of the one object of a server that does not stream. The
 * body decides which it is, because many servers send a wrong content type.
 *
 * - `[DONE]`, or the end of an object that is not a chunk, ends the reply; nothing after it is used.
 * - Keep-alives, events without data and `null` are skipped. A last event without a blank line after it counts if it is whole.
 * - Lines and events that are neither, for example the page of a proxy, are in `otherText`. An event `error` with text counts as an error.
 * - Iterating throws a SyntaxError for invalid JSON, `ResponseTooLarge`, or what the body throws.
 * - The end of the iteration closes the connection if the body has not ended.
 */
export class ReplyBody implements AsyncIterable<unknown> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #timers: Timers;
  readonly #maxChars: number;
  #timer: unknown = null;
  #values: JsonValues | null = null;

  constructor(body: ReadableStream<Uint8Array> | null, { timers, maxChars }: ReplyBodyOptions) {
    this.#reader = body?.getReader() ?? null;
    this.#timers = timers;
    this.#maxChars = maxChars;
  }

  /** Whether the body marked its own end, unlike one that was cut. */
  get isWhole(): boolean {
    return this.#values?.isWhole ?? false;
  }

  /** The start of the text that is not part of a reply. */
  get otherText(): string {
    return this.#values?.otherText ?? '';
  }

  /** Ends the iteration after this time, which replaces an earlier one. */
  endWithin(timeoutMs: number): void {
    this.#clearTimer();
    this.#timer = this.#timers.setTimeout(() => this.#close(), timeoutMs);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void> {
    try {
      yield* this.#readAll();
      if (this.isWhole) await this.#awaitEnd();
    } finally {
      this.#clearTimer();
      this.#close();
    }
  }

  async *#readAll(): AsyncGenerator<unknown, void> {
    const decoder = new TextDecoder();
    for (let isOver = false; !isOver; ) {
      const bytes = await this.#read();
      isOver = bytes === null;
      const text = bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
      if (text.trim() !== '') this.#values ??= this.#valuesIn(text);
      for (const value of this.#values?.read(text, isOver) ?? []) yield value;
      isOver ||= this.isWhole;
    }
  }

  #valuesIn(text: string): JsonValues {
    return /^\s*(?:\{|\[\s*\{)/u.test(text) ? new ObjectReader(this.#maxChars) : new EventReader(this.#maxChars);
  }

  async #read(): Promise<Uint8Array | null> {
    const step = await this.#reader?.read();
    return step?.value ?? null;
  }

  async #awaitEnd(): Promise<void> {
    this.endWithin(END_GRACE_MS);
    await this.#read().catch(() => null);
  }

  /** Ends a pending read, too. */
  #close(): void {
    this.#reader?.cancel().catch(() => {});
  }

  #clearTimer(): void {
    if (this.#timer !== null) this.#timers.clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Finds JSON values in text that arrives in pieces. */
interface JsonValues {
  /** Returns the values that this piece completes. `isLast`: it ends the text. */
  read(text: string, isLast: boolean): Iterable<unknown>;
  /** Whether the text marked its own end. */
  readonly isWhole: boolean;
  readonly otherText: string;
}

/** Reads one object, or the chunks of a reply one after another: one in each line, or in an array. */
class ObjectReader implements JsonValues {
  readonly #maxChars: number;
  #balance = new BracketBalance();
  #text = '';
  #hasChunks = false;
  #isWhole = false;
  readonly otherText = '';

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  *read(text: string, isLast: boolean): Generator<unknown, void> {
    for (let at = 0; at < text.length && !this.#isWhole; ) {
      const from = this.#text === '' ? text.indexOf('{', at) : at;
      if (from === -1) break;
      const end = this.#balance.endIn(text, from);
      at = end === -1 ? text.length : end;
      this.#text += text.slice(from, at);
      requireChars(this.#text.length, this.#maxChars);
      if (end !== -1) yield this.#endObject();
    }
    if (isLast && this.#text !== '' && !this.#hasChunks) yield parseServerJson(this.#text, this.#maxChars);
  }

  #endObject(): unknown {
    const value = withoutEnvelope(parseServerJson(this.#text, this.#maxChars));
    this.#text = '';
    this.#balance = new BracketBalance();
    this.#hasChunks ||= isChunk(value);
    this.#isWhole = !isChunk(value);
    return value;
  }
}

type Members = Readonly<Record<string, unknown>>;

function isChunk(value: unknown): boolean {
  const { object, choices } = Object(value) as Members;
  const [choice] = Array.isArray(choices) ? choices : [];
  return object === 'chat.completion.chunk' || Object(choice).delta !== undefined;
}

/** Some gateways put each chunk into the member `data` of another object. */
function withoutEnvelope(value: unknown): unknown {
  const { data, choices, type, error } = Object(value) as Members;
  const isEnvelope =
    typeof data === 'object' && data !== null && [choices, type, error].every((own) => own === undefined);
  return isEnvelope ? data : value;
}

const DONE = /^"?\[DONE\]"?$/u;

/** Enough to recognize a page by its title. */
const MAX_OTHER_CHARS = 2_000;

class EventReader implements JsonValues {
  readonly #parser;
  readonly #maxChars: number;
  #events: { readonly event?: string | undefined; readonly data: string }[] = [];
  #isWhole = false;
  otherText = '';

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
    this.#parser = createParser({
      maxBufferSize: maxChars,
      onEvent: ({ event, data }) => {
        requireChars(data.length, maxChars);
        this.#events.push({ event, data });
      },
      onError: ({ type, line = '' }) => {
        if (type === 'max-buffer-size-exceeded') requireChars(Number.POSITIVE_INFINITY, maxChars);
        this.#addOther(line);
      },
    });
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  *read(text: string, isLast: boolean): Generator<unknown, void> {
    this.#parser.feed(text);
    yield* this.#values((data) => parseServerJson(data, this.#maxChars));
    if (!isLast || this.#isWhole) return;
    this.#parser.feed('\n\n');
    yield* this.#values((data) => parseIfJson(data, this.#maxChars));
  }

  *#values(parse: (text: string) => unknown): Generator<unknown, void> {
    const taken = this.#events;
    this.#events = [];
    for (const { event, data } of taken) yield* this.#valuesIn(data, event, parse);
  }

  *#valuesIn(data: string, event: string | undefined, parse: (text: string) => unknown): Generator<unknown, void> {
    const text = data.trim();
    this.#isWhole ||= DONE.test(text);
    if (this.#isWhole || text === '' || text === 'null') return;
    if (/^[{[]/u.test(text)) yield* this.#parsed(text, event, parse);
    else if (event === 'error') yield { error: text };
    // A comment that a gateway sends as data.
    else if (!text.startsWith(':')) this.#addOther(text);
  }

  /** Without blank lines between them, events are one event with several lines. */
  *#parsed(text: string, event: string | undefined, parse: (text: string) => unknown): Generator<unknown, void> {
    const value = text.includes('\n') ? parseIfJson(text, this.#maxChars) : parse(text);
    if (value !== null) yield withoutEnvelope(value);
    else for (const line of text.includes('\n') ? text.split('\n') : []) yield* this.#valuesIn(line, event, parse);
  }

  #addOther(text: string): void {
    if (this.otherText.length < MAX_OTHER_CHARS) this.otherText += `${text.slice(0, MAX_OTHER_CHARS)}\n`;
  }
}

function requireChars(chars: number, maxChars: number): void {
  if (chars <= maxChars) return;
  throw new ResponseTooLarge(`one event or object of more than ${maxChars.toLocaleString('en-US')} characters`);
}

/** Text up to this length is harmless, whatever it contains. */
const MAX_UNCOUNTED_CHARS = 1_000_000;

/** Real responses have far more characters than this per object, array and member. */
const MIN_CHARS_PER_MEMBER = 16;

/**
 * Parses JSON from a server. A value may take thirty times the memory of its text (for example `[[[[…`), so that the members of large texts
 * are counted first: at most one per 16 of `maxChars`.
 *
 * @throws SyntaxError, or ResponseTooLarge for too many objects, arrays and members.
 */
export function parseServerJson(text: string, maxChars: number): unknown {
  const maxMembers = Math.ceil(maxChars / MIN_CHARS_PER_MEMBER);
  if (text.length > MAX_UNCOUNTED_CHARS && membersIn(text) > maxMembers)
    throw new ResponseTooLarge(`a response of more than ${maxMembers.toLocaleString('en-US')} JSON members`);
  return JSON.parse(text);
}

const [OPEN_OBJECT, OPEN_LIST, COLON] = [0x7b, 0x5b, 0x3a] as const;

/** Counts the characters that begin an object, an array or a member, also those in strings. */
function membersIn(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_LIST || code === COLON) members += 1;
  }
  return members;
}

function parseIfJson(text: string, maxChars: number): unknown {
  try {
    return parseServerJson(text, maxChars);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
