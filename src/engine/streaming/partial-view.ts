import { parse } from 'jsonriver';

/**
 * The value of one JSON text as far as it has come, by an incremental parser (jsonriver).
 *
 * 1. Nothing is parsed twice, and a partial is the parser’s own object: one that grows. 2. What was pushed has been parsed, and its
 * partial given, when `onParsed` is called, once for each push. 3. Where the parser fails, a consumer having frozen the object say,
 * the partials stop and nothing else does.
 */
export interface PartialView {
  push(json: string): void;
  /** No more will come; whether the partials came to the end of the value. Rejects with what `onPartial` threw. */
  finish(): Promise<boolean>;
}

export interface PartialViewOptions {
  readonly onPartial: (value: unknown) => void;
  readonly onComplete?: OnComplete | undefined;
  readonly onParsed: () => void;
  /** Told what `onPartial` threw. */
  readonly onThrown: (error: unknown) => void;
}

/** Where a value stands within the whole: member names and places in lists. */
type ValuePath = readonly (string | number)[];

/** Told each value within the whole as it is complete. Its path is made when it is asked for, and not later. */
export type OnComplete = (value: unknown, pathNow: () => ValuePath) => void;

/** Callbacks, and an iterator made by hand: a promise more for each chunk would cost more than the parsing. */
export function createPartialView({ onPartial, onComplete, onParsed, onThrown }: PartialViewOptions): PartialView {
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
