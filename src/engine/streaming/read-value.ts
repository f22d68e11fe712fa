import { parse } from 'jsonriver';
import type { PartSource } from './part-source.ts';
import type { FoundValue, StreamDriver } from './stream-driver.ts';

export interface StreamObserver {
  /** Called for every chunk of the reply's own text, in order: of its text, or of the arguments that it is. */
  readonly onText: (text: string) => void;
  /** Called for every other delta: reasoning, other tool calls, text beside a tool call, and empty ones. */
  readonly onAlive: () => void;
  /**
   * Called after every chunk that moved the value on, with the value as far as it is there. It is one object that grows:
   * a live view, to be read and not kept. What is done to it never reaches the value; where it was frozen, the views stop, and
   * one last view shows the whole value.
   */
  readonly onPartial: (value: unknown) => void;
  /** Called when the value begins, and again where what had begun turned out to be none. */
  readonly onBegin?: (() => void) | undefined;
  /** Called for each value within it as that is complete; left out, nothing is spent on it. */
  readonly onComplete?: OnComplete | undefined;
}

/** Reads a source to its end, and shows the value in it on the way; null where it holds none. */
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
    // A new candidate has a new view; that of the one before is let go.
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

/** Callbacks, because one more promise for each chunk shows in the time that it all takes. */
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

/** JSON.parse has the last word. */
function parsed(json: string): FoundValue | null {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    return null;
  }
}

/**
 * The value of one JSON text as far as it has come, by an incremental parser (jsonriver).
 *
 * 1. Nothing is parsed twice, and a partial is the parser’s own object: one that grows. 2. What was pushed has been parsed, and its
 * partial given, when `onParsed` is called, once for each push. 3. Where the parser fails, a consumer having frozen the object say,
 * the partials stop and nothing else does.
 */
interface PartialView {
  push(json: string): void;
  /** No more will come; whether the partials came to the end of the value. Rejects with what `onPartial` threw. */
  finish(): Promise<boolean>;
}

interface PartialViewOptions {
  readonly onPartial: (value: unknown) => void;
  readonly onComplete?: OnComplete | undefined;
  readonly onParsed: () => void;
  /** Told what `onPartial` threw. */
  readonly onThrown: (error: unknown) => void;
}

/** Where a value stands within the whole: member names and places in lists. */
type ValuePath = readonly (string | number)[];

/** Told each value within the whole as it is complete. Its path is made when it is asked for, and not later. */
type OnComplete = (value: unknown, pathNow: () => ValuePath) => void;

/** Callbacks, and an iterator made by hand: a promise more for each chunk would cost more than the parsing. */
function createPartialView({ onPartial, onComplete, onParsed, onThrown }: PartialViewOptions): PartialView {
  /** The parser’s open question for more, or else what it is given when it asks. */
  let give: ((step: IteratorResult<string>) => void) | null = null;
  const waiting: IteratorResult<string>[] = [];
  let isParsing = false;
  let state: 'open' | 'whole' | 'stopped' = 'open';

  const fed = {
    next: () => new Promise<IteratorResult<string>>(ask),
    [Symbol.asyncIterator]() {
      return this;
    },
  };

  function ask(resolve: (step: IteratorResult<string>) => void): void {
    const step = waiting.shift();
    if (step === undefined) {
      give = resolve;
      parsed();
    } else resolve(step);
  }

  function parsed(): void {
    if (isParsing) {
      isParsing = false;
      onParsed();
    }
  }

  function tell(step: IteratorResult<string>): void {
    if (give === null) waiting.push(step);
    else give(step);
    give = null;
  }

  async function run(): Promise<void> {
    const partials = parse(
      fed,
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
      if (state === 'open') tell({ done: false, value: json });
      else parsed();
    },
    finish() {
      tell({ done: true, value: undefined });
      return running.then(() => state === 'whole');
    },
  };
}
