import { parse } from 'jsonriver';
import type { PartSource } from './part-source.ts';
import type { FoundValue, StreamDriver } from './stream-driver.ts';

export interface StreamObserver {
  /** Called for every chunk of the reply, in order: of its text, or of the arguments of its tool call. */
  readonly onText: (text: string) => void;
  /** Called for every other delta: reasoning, other tool calls, text besides a tool call, and empty ones. */
  readonly onAlive: () => void;
  /**
   * Called after every chunk that extended the value, with the value so far. It is one object that grows: a live view, to be read and
   * not kept. Changes to it never reach the final value. If it is frozen, the views stop, and one last view shows the complete value.
   */
  readonly onPartial: (value: unknown) => void;
  /** Called when the value starts, and again if what started turned out not to be it. */
  readonly onBegin?: (() => void) | undefined;
  /** Called for each nested value when it is complete; if omitted, it costs nothing. */
  readonly onComplete?: OnComplete | undefined;
}

/** Reads a source to its end, and shows the value in it meanwhile. Returns null if there is none. */
export async function readValue(
  source: PartSource,
  driver: StreamDriver,
  { onText, onAlive, onBegin, onPartial, onComplete }: StreamObserver,
): Promise<FoundValue | null> {
  const { finder } = driver;
  let view = null as PartialView | null;
  let candidate = 0;
  let isCalled = false;

  function take(chunk: string, onParsed: () => void, onThrown: (error: unknown) => void): void {
    if (chunk === '') onAlive();
    else onText(chunk);
    if (driver.call !== null) {
      driver.call.push(chunk);
      if (!isCalled) onBegin?.();
      if (!isCalled || chunk !== '') onPartial(driver.call.soFar());
      isCalled = true;
      onParsed();
      return;
    }
    const json = finder.push(chunk);
    // A new candidate has a new view; the previous one is dropped.
    if (json !== '' && candidate !== finder.candidate) {
      onBegin?.();
      view = createPartialView({ onPartial, onComplete, onParsed, onThrown });
      candidate = finder.candidate;
    }
    if (json === '' || view === null) onParsed();
    else view.push(json);
  }

  await readAll(source, take);
  if (source.end.failure !== null) return null;
  if (driver.call !== null) return driver.call.whole(source.end.reason);
  finder.end();
  const span = finder.found ?? (source.end.reason === 'length' ? finder.fallbackIfCut : finder.fallback);
  if (span === null) return null;
  const json = source.text.slice(span.from, span.to);
  const found = parsed(json);
  const isUnwanted = finder.found === null && Array.isArray(found?.value) && !finder.showsFallback;
  const isShown = isUnwanted || (finder.found !== null && (await view?.finish()));
  if (found !== null && !isShown) onPartial(JSON.parse(json));
  return found;
}

/** Uses callbacks because one more promise per chunk is measurable. */
function readAll(
  source: PartSource,
  take: (chunk: string, onTaken: () => void, onThrown: (error: unknown) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const more = (): void => source.next(receive);

    function receive(chunk: string | null): void {
      try {
        if (chunk === null) resolve();
        else take(chunk, more, reject);
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
    return { value: JSON.parse(json) as unknown };
  } catch {
    return null;
  }
}

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
