import { parse } from 'jsonriver';
import type { Reply } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { lacksJson } from '../../../machines/policies/model-status.ts';
import { toolNamed } from '../../../machines/policies/tool-names.ts';
import { estimatedUsage } from '../../../machines/policies/usage.ts';
import { clippedLine } from '../../../machines/text/clip.ts';

import type { TakeTurn } from '../../durable/turns.ts';
import { hasStructure, type JsonNode } from '../../internal/json-schema.ts';
import { firstLongNumber, longNumberProblem } from '../../internal/json-text.ts';
import { MAX_DEPTH } from './json-scanner.ts';
import { GrowingText, PartSource, type StreamEnd } from './part-source.ts';
import { quotedName } from './quoted-name.ts';
import {
  createTextDriver,
  type FoundValue,
  type MissingValue,
  type OfferedTools,
  QUOTED_CHARS,
  type StreamDriver,
} from './stream-driver.ts';
import { StrictFinder } from './strict-finder.ts';
import { withoutThought } from './thought.ts';

interface StreamObserver {
  /** Called for every chunk of the reply, in order: of its text, or of the arguments of its tool call. `isCall`: of a call of an offered tool. */
  readonly onText: (text: string, isCall: boolean) => void;
  /** Called for every other delta: reasoning, other tool calls, text besides a tool call, and empty ones. */
  readonly onAlive: () => void;
  /**
   * Called after every chunk that extended the value, with the value so far. It is one object that grows: a live view, to be read and
   * not kept. Changes to it never reach the final value. If it is frozen, the views stop, and one last view shows the complete value.
   */
  readonly onPartial: (value: unknown) => void;
  /** Whether anyone reads the values so far; by default they are. While nobody does, the value is not parsed. */
  readonly isWatched?: (() => boolean) | undefined;
  /** Called when the value starts, and again if what started turned out not to be it. */
  readonly onBegin?: (() => void) | undefined;
  /** Called for each nested value when it is complete; if omitted, it costs nothing. */
  readonly onComplete?: OnComplete | undefined;
}

export interface ReadStreamOptions extends StreamObserver {
  readonly form: ModelRequest['replyForm'];
  /** The driver for the form `prose`. */
  readonly proseDriver?: StreamDriver | undefined;
  /** The tool whose arguments are the reply; only for the form `tool-call`. */
  readonly toolName: string;
  /** Whether a bare array in the text may be the value; not for the form `tool-call`. */
  readonly acceptsList: boolean;
  /** The schema of the reply if it is sent as a parameter of the request, which a server may ignore; otherwise null. */
  readonly sentSchema?: JsonNode | null;
  /** The tools that a model may call instead of replying, in either form. */
  readonly offered?: OfferedTools | undefined;
  /** Returns the value for a reply in prose; without it, a reply without JSON has failed. */
  readonly fromProse?: ((text: string) => unknown) | undefined;
  readonly maxChars: number;
  readonly takeTurn: TakeTurn;
  /** Receives a function that stops reading at once, even if the stream ignores its signal. */
  readonly onStoppable: (stop: () => void) => void;
  /** Receives the reason that the model gave for the end of its reply. */
  readonly onEnd?: ((reason: FinishReason | null) => void) | undefined;
  /** For an estimate if the provider reports no usage. */
  readonly promptChars: number;
}

/**
 * Reads one model stream to its end and finds the JSON value in it while it arrives.
 *
 * - The value is the result of JSON.parse on exactly its text; partial values are separate objects. A number that would lose digits is a
 *   failure.
 * - While streaming, nothing is parsed twice, and all work is linear in the characters. The arguments of an offered tool are not parsed.
 * - It never rejects because of a model: a transport failure, a stream that throws, missing JSON or too much text is the reply's `failure`.
 * - It rejects with what an observer throws, and closes the stream.
 */
export async function readStream(open: () => AsyncIterable<ModelPart>, options: ReadStreamOptions): Promise<Reply> {
  const driver = driverFor(options);
  const { maxChars, takeTurn, onStoppable, sentSchema = null } = options;
  const source = new PartSource(open, { claim: driver.claim, maxChars, takeTurn, onStoppable });
  try {
    const read = await readValue(source, driver, options);
    const { end } = source;
    options.onEnd?.(end.reason);
    const isSilent = read === null && end.reason === 'stop' && source.text.trim() === '';
    const misplaced = isSilent ? driver.misplaced : null;
    const found = misplaced === null ? read : parsed(misplaced);
    if (misplaced !== null && found !== null && found.failure === undefined) options.onPartial(JSON.parse(misplaced));
    const text = misplaced ?? source.text;
    const prose = found === null && streamFailure(end) === null ? driver.proseIn(text).trim() : '';
    if (prose !== '' && options.fromProse !== undefined) {
      const value = options.fromProse(prose);
      options.onPartial(value);
      return { text: prose, value, prose: true, failure: null, usage: usageOf(source, options) };
    }
    const none = found === null ? driver.failureOf({ text, miss: driver.finder.miss, reason: end.reason }) : null;
    const failure = streamFailure(end) ?? found?.failure ?? none;
    const isIgnored =
      failure === null
        ? driver.unsearched === null && isOtherThan(sentSchema, found?.value)
        : sentSchema !== null && lacksJson(failure);
    return {
      text: driver.unsearched?.describe() ?? text,
      prose: false,
      value: failure === null ? found?.value : null,
      failure,
      usage: usageOf(source, options),
      ...(isIgnored && { ignoresSchema: true }),
    };
  } finally {
    source.close();
  }
}

const isOtherThan = (schema: JsonNode | null, value: unknown): boolean =>
  schema !== null && !hasStructure(value, schema);

/** Everything received counts as output, including reasoning. */
function usageOf({ end, chars }: PartSource, { promptChars }: ReadStreamOptions): TokenUsage {
  return end.usage ?? (isUnprocessed(end, chars) ? NO_USAGE : estimatedUsage(promptChars, chars));
}

function driverFor(options: ReadStreamOptions): StreamDriver {
  const { form, toolName, offered, proseDriver } = options;
  const isCall = form === 'tool-call';
  const own = proseDriver ?? (isCall ? createToolCallDriver(toolName) : createTextDriver(options));
  const replyTool = isCall ? toolName : null;
  const driver = offered?.wrap(own, offered, { readsJsonText: !isCall, replyTool }) ?? own;
  const names = [...(isCall ? [toolName] : []), ...(offered?.names ?? [])];
  const { claim } = driver;
  const claimNamed: StreamDriver['claim'] = (part) =>
    claim(part.type === 'tool-call-delta' ? { ...part, name: toolNamed(part.name, names) } : part);
  return names.length === 0 ? driver : Object.create(driver, { claim: { value: claimNamed } });
}

function streamFailure({ failure, reason }: StreamEnd): Failure | null {
  if (failure !== null) return failure;
  if (reason !== 'content-filter') return null;
  return failureOf('refinement', 'filtered', 'The reply was stopped by the provider’s content filter.', {
    retryable: false,
  });
}

const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, estimated: true };

/** Whether the request was never processed, so that its prompt is not billed: no connection, or an error status before any text. */
function isUnprocessed({ failure }: StreamEnd, chars: number): boolean {
  if (failure === null || failure.stage !== 'transport' || chars > 0) return false;
  return failure.status !== null || UNSENT.has(failure.code);
}

const UNSENT: ReadonlySet<string> = new Set(['connection_failed', 'proxy_failed', 'redirected']);

/** Reads a source to its end, and shows the value in it meanwhile. Returns null if there is none. */
async function readValue(
  source: PartSource,
  driver: StreamDriver,
  { onText, onAlive, onBegin, onPartial, onComplete, isWatched = () => true }: StreamObserver,
): Promise<FoundValue | null> {
  const { finder } = driver;
  let view = null as PartialView | null;
  /** The text of the candidate that no view has parsed. */
  let unparsed = '';
  let candidate = 0;
  let isCalled = false;

  function readChunk(chunk: string, onParsed: () => void, onThrown: (error: unknown) => void): void {
    const { unsearched } = driver;
    if (chunk === '') onAlive();
    else onText(chunk, unsearched?.areCalls === true);
    if (unsearched !== null) {
      unsearched.push(chunk);
      if (!isCalled) onBegin?.();
      if (!isCalled || chunk !== '') onPartial(unsearched.soFar());
      isCalled = true;
      onParsed();
      return;
    }
    const json = finder.push(chunk);
    // A new candidate has a new view; the previous one is dropped.
    if (json !== '' && candidate !== finder.candidate) {
      onBegin?.();
      view = null;
      unparsed = '';
      candidate = finder.candidate;
    }
    if (json !== '' && (view !== null || isWatched())) {
      view ??= createPartialView({ onPartial, onComplete, onParsed, onThrown });
      const text = unparsed + json;
      unparsed = '';
      view.push(text);
    } else {
      unparsed += json;
      onParsed();
    }
  }

  await readAll(source, readChunk);
  if (source.end.failure !== null) return null;
  if (driver.unsearched !== null) return driver.unsearched.whole(source.end.reason);
  finder.end(source.text);
  const span = finder.found ?? (source.end.reason === 'length' ? finder.fallbackIfCut : finder.fallback);
  if (span === null) return null;
  const json = source.text.slice(span.from, span.to);
  const found = parsed(json);
  const isHiddenList = finder.found === null && Array.isArray(found?.value) && !finder.showsFallback;
  const isShown = isHiddenList || (finder.found !== null && (await view?.finish()));
  if (found !== null && found.failure === undefined && !isShown && isWatched()) onPartial(JSON.parse(json));
  return found;
}

/** Uses callbacks because one more promise per chunk is measurable. */
function readAll(
  source: PartSource,
  readChunk: (chunk: string, onDone: () => void, onThrown: (error: unknown) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const more = (): void => source.next(receive);

    function receive(chunk: string | null): void {
      try {
        if (chunk === null) resolve();
        else readChunk(chunk, more, reject);
      } catch (error) {
        reject(error);
      }
    }

    more();
  });
}

/** JSON.parse decides what the value is. */
function parsed(json: string): FoundValue | null {
  try {
    const value = JSON.parse(json) as unknown;
    const long = firstLongNumber(json);
    if (long === null) return { value };
    const path = long.path.join('.');
    const problem = longNumberProblem(long);
    const message = `The reply contains a number that would lose digits${path && ` (${clippedLine(path, MAX_PATH_CHARS)})`}: ${problem}.`;
    return { value, failure: failureOf('schema', 'invalid_reply', message, { issues: [{ path, message: problem }] }) };
  } catch {
    return null;
  }
}

const MAX_PATH_CHARS = 200;

/**
 * The value of one JSON text so far, parsed incrementally by jsonriver.
 *
 * - Nothing is parsed twice; a partial is the parser's own object, which grows.
 * - `onParsed` is called once per push, when the text was parsed and its partial was shown.
 * - If the parser fails, for example because a consumer froze the object, only the partials stop.
 */
interface PartialView {
  push(json: string): void;
  /** Ends the text. Resolves to whether the partials reached the end of the value; rejects with what `onPartial` threw. */
  finish(): Promise<boolean>;
}

interface PartialViewOptions {
  readonly onPartial: (value: unknown) => void;
  readonly onComplete?: OnComplete | undefined;
  readonly onParsed: () => void;
  /** Receives what `onPartial` threw. */
  readonly onThrown: (error: unknown) => void;
}

/** The path of a nested value: member names and array indexes. */
type ValuePath = readonly (string | number)[];

/** Receives each nested value when it is complete. `pathNow` computes its path, and is valid only during the call. */
type OnComplete = (value: unknown, pathNow: () => ValuePath) => void;

/** Uses callbacks and a hand-written iterator: one more promise per chunk would cost more than the parsing. */
function createPartialView({ onPartial, onComplete, onParsed, onThrown }: PartialViewOptions): PartialView {
  /** Resolves the parser's pending request for input; if there is none, input waits in `waiting`. */
  let resolveNext: ((step: IteratorResult<string>) => void) | null = null;
  const waiting: IteratorResult<string>[] = [];
  let isParsing = false;
  let state: 'open' | 'whole' | 'stopped' = 'open';

  const input = {
    next: () => new Promise<IteratorResult<string>>(request),
    [Symbol.asyncIterator]() {
      return this;
    },
  };

  function request(resolve: (step: IteratorResult<string>) => void): void {
    const step = waiting.shift();
    if (step === undefined) {
      resolveNext = resolve;
      parsed();
    } else resolve(step);
  }

  function parsed(): void {
    if (isParsing) {
      isParsing = false;
      onParsed();
    }
  }

  function feed(step: IteratorResult<string>): void {
    if (resolveNext === null) waiting.push(step);
    else resolveNext(step);
    resolveNext = null;
  }

  async function run(): Promise<void> {
    const partials = parse(
      input,
      onComplete && { completeCallback: (value, path) => onComplete(value, () => path.segments()) },
    );
    while (state === 'open') {
      let step: IteratorResult<unknown>;
      try {
        step = await partials.next();
      } catch {
        state = 'stopped';
        break;
      }
      if (step.done) state = 'whole';
      else onPartial(step.value);
    }
    parsed();
  }

  const running = run();
  running.catch(onThrown);

  return {
    push(json) {
      isParsing = true;
      if (state === 'open') feed({ done: false, value: json });
      else parsed();
    },
    finish() {
      feed({ done: true, value: undefined });
      return running.then(() => state === 'whole');
    },
  };
}

/**
 * Returns a driver for replies that are the arguments of a tool call: the first call of this tool. The arguments are one complete JSON
 * text. Text, other calls, and further calls of the same tool are not part of the reply.
 */
function createToolCallDriver(toolName: string): StreamDriver {
  const tool = `the tool ${quotedName(toolName)}`;
  let index: number | null = null;
  let otherCall: string | null = null;
  const prose = new GrowingText();

  function missingValueFailure({ text, miss, reason }: MissingValue): Failure {
    if (miss === 'too-deep')
      return extraction(
        'too_deep',
        `The arguments of ${tool} have more than ${MAX_DEPTH} open brackets; expected fewer.`,
      );
    if (reason === 'length' && (index !== null || withoutThought(prose.text).trim() === ''))
      return extraction(
        'truncated',
        `The reply was cut off at the output limit before the arguments of ${tool} ended.`,
      );
    if (index === null) return extraction('no_tool_call', `The reply does not call ${tool}; ${instead()}.`);
    if (text.trim() === '')
      return extraction('empty_reply', `The call of ${tool} has no arguments; expected one JSON object.`);
    if (miss === 'unfinished')
      return extraction('no_json', `The arguments of ${tool} do not end; expected one complete JSON object.`);
    return extraction(
      'no_json',
      `The arguments of ${tool} are not valid JSON; expected one JSON object and nothing else.`,
    );
  }

  function instead(): string {
    if (otherCall !== null) return `a call of ${quotedName(otherCall)} came instead`;
    const text = clippedLine(withoutThought(prose.text), QUOTED_CHARS);
    return text === '' ? 'nothing came instead' : `text came instead: “${text}”`;
  }

  return {
    finder: new StrictFinder(),
    unsearched: null,
    misplaced: null,
    claim(part) {
      if (part.type === 'text-delta') prose.add(part.text);
      if (part.type !== 'tool-call-delta') return false;
      if (part.name === toolName) index ??= part.index;
      else otherCall ??= part.name;
      return part.name === toolName && part.index === index;
    },
    // A model that writes its JSON as text is asked for text next.
    proseIn: () => {
      const text = withoutThought(prose.text);
      return index === null && !/^\s*[{[]/u.test(text) ? text : '';
    },
    failureOf: missingValueFailure,
  };
}

const extraction = (code: string, message: string): Failure => failureOf('extraction', code, message);
