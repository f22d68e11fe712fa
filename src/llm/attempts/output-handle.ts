import type { Actor } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { abortedExecution } from '../../../machines/attempt/state.ts';
import type { AttemptExecution, AttemptOutcome } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { onAbort } from '../../internal/async.ts';
import { AttemptsExhausted } from './attempts-exhausted.ts';
import type { HookError } from './create-attempt.ts';
import type { ElementFeed } from './element-feed.ts';
import type { Feed, Reader } from './feed.ts';
import type { ElementUpdate, ResetUpdate, StructuredUpdate } from './updates.ts';

/** Returns a feed as an async iterable. `start` is called on each read, `onLeave` when a reader stops early. */
function iterableOf<Update>(feed: Feed<Update>, start: () => void, onLeave: () => void): AsyncIterable<Update> {
  return {
    [Symbol.asyncIterator]() {
      let reader: Reader<Update> | null = null;
      let isOver = false;
      return {
        async next() {
          if (isOver) return { done: true, value: undefined };
          reader ??= feed.open();
          start();
          return reader.next();
        },
        async return() {
          isOver = true;
          reader?.close();
          onLeave();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** A value in progress, or done. The model is called when the value, an update or an element is first requested. */
export interface StructuredOutput<Input, Output> extends AsyncIterable<StructuredUpdate<Input, Output>> {
  /** The validated value. Rejects with `AttemptsExhausted`, or with PostChainError `cancelled`. */
  readonly value: Promise<Output>;
  /** The items of an array, each validated when it is complete. For any other schema, reading this throws `invalid_option`. */
  readonly elements: Output extends readonly (infer Item)[] ? AsyncIterable<ElementUpdate<Item>> : never;
  /** Resolves to whether `next` has an update or an error; waits until that is known. */
  readonly hasNext: () => Promise<boolean>;
  /** Resolves to the next update. Rejects if all attempts failed, or if no update is left. */
  readonly next: () => Promise<StructuredUpdate<Input, Output>>;
  /** All attempts so far, including a call that `cancel` aborted: immutable and serializable. */
  readonly execution: AttemptExecution;
  /** Stops at once and closes the connection; `value` rejects with `cancelled`. */
  readonly cancel: (reason?: string) => void;
  /** The running XState actor, to inspect or to listen to (`actor.on('attempt-end', …)`). */
  readonly actor: Actor<typeof attemptMachine>;
}

interface HandleParts<Output> {
  readonly actor: Actor<typeof attemptMachine>;
  readonly run: AttemptRun;
  readonly updates: Feed<StructuredUpdate>;
  readonly items: ElementFeed | null;
  readonly value: Promise<Output>;
}

/** The public handle. Getters that start a call are on the prototype, so that spreading, logging or serializing it starts none. */
export class OutputHandle<Input, Output> implements StructuredOutput<Input, Output> {
  readonly #parts: HandleParts<Output>;
  #isAwaited = false;
  #stepper: Reader<StructuredUpdate> | null = null;

  constructor(parts: HandleParts<Output>) {
    this.#parts = parts;
  }

  get value(): Promise<Output> {
    this.#isAwaited = true;
    this.#parts.run.start();
    return this.#parts.value;
  }

  get elements(): StructuredOutput<Input, Output>['elements'] {
    const { items, run } = this.#parts;
    if (items === null)
      throw new PostChainError('invalid_option', 'elements: expected an array schema; use value for any other schema.');
    return iterableOf(items.feed, run.start, this.#leave) as never;
  }

  get execution(): AttemptExecution {
    return this.#parts.run.execution;
  }

  get actor(): Actor<typeof attemptMachine> {
    return this.#parts.actor;
  }

  readonly hasNext = (): Promise<boolean> => this.#steps().hasNext();

  readonly next = async (): Promise<StructuredUpdate<Input, Output>> => {
    const step = await this.#steps().next();
    if (!step.done) return step.value as StructuredUpdate<Input, Output>;
    throw new PostChainError('invalid_option', 'next: no update is left; check hasNext first.');
  };

  readonly cancel = (reason?: string): void => this.#parts.run.cancel(reason);

  [Symbol.asyncIterator](): AsyncIterator<StructuredUpdate<Input, Output>> {
    const { updates, run } = this.#parts;
    return iterableOf(updates, run.start, this.#leave)[Symbol.asyncIterator]() as never;
  }

  toJSON(): { readonly execution: AttemptExecution } {
    return { execution: this.execution };
  }

  #steps(): Reader<StructuredUpdate> {
    this.#stepper ??= this.#parts.updates.open();
    this.#parts.run.start();
    return this.#stepper;
  }

  /** The last reader to leave cancels the call. */
  readonly #leave = (): void => {
    const { updates, items, run } = this.#parts;
    if (updates.readers === 0 && !items?.hasReaders && !this.#isAwaited) run.cancel('no one reads the output anymore');
  };
}

/** Receives the progress of attempts: any number of resets, then exactly one `onValue` or `onError`. */
export interface AttemptListener {
  readonly onReset: (update: ResetUpdate) => void;
  readonly onValue: (value: unknown, execution: AttemptExecution) => void;
  readonly onError: (error: Error) => void;
}

/** Starts and cancels attempts, once each. */
export interface AttemptRun {
  /** Starts the actor; further calls do nothing. */
  start(): void;
  cancel(reason?: string): void;
  readonly execution: AttemptExecution;
}

export function createAttemptRun(
  actor: Actor<typeof attemptMachine>,
  { onReset, onValue, onError }: AttemptListener,
  { signal, thrown }: { readonly signal: AbortSignal | undefined; readonly thrown: HookError },
): AttemptRun {
  let phase: 'idle' | 'running' | 'over' = 'idle';
  let forgetSignal = (): void => {};
  let failed: Omit<ResetUpdate, 'retryInMs'> | null = null;
  let aborted: AttemptExecution | null = null;

  /** Reports the failed attempt once it is known whether another one follows. */
  function reset(retryInMs: number | null): void {
    if (failed !== null) onReset({ ...failed, retryInMs });
    failed = null;
  }

  function end(report: () => void): void {
    if (phase === 'over') return;
    phase = 'over';
    forgetSignal();
    reset(null);
    report();
  }

  function cancel(reason = 'the call was canceled'): void {
    const because = signal?.aborted ? { cause: signal.reason } : {};
    const error = new PostChainError('cancelled', `No value: ${reason}.`, because);
    if (phase === 'running') aborted = abortedExecution(actor.getSnapshot().context, reason);
    end(() => onError(error));
    actor.stop();
  }
  const abort = (): void => cancel('the signal was aborted');

  function settle(): void {
    const { output } = actor.getSnapshot();
    if (output === undefined) cancel('the actor was stopped');
    else if (output.ok) end(() => onValue(output.value, output.execution));
    else end(() => onError(finalError(output, thrown)));
  }

  function run(): void {
    if (signal !== undefined) forgetSignal = onAbort(signal, abort);
    actor.on('attempt-end', ({ attempt, failure }) => {
      const { execution } = actor.getSnapshot().context;
      if (failure !== null) failed = { type: 'reset', attempt, failure, execution };
    });
    actor.on('attempt-retry', ({ delayMs }) => reset(delayMs));
    actor.subscribe({ error: (cause) => end(() => onError(crashed(cause))), complete: settle });
    actor.start();
  }

  return {
    start() {
      if (phase !== 'idle') return;
      if (signal?.aborted) {
        abort();
        return;
      }
      phase = 'running';
      run();
    },
    cancel,
    get execution() {
      return aborted ?? actor.getSnapshot().context.execution;
    },
  };
}

/** Returns what `finalizeOrThrow` threw, or else the error with all attempts. */
function finalError({ failure, execution }: Exhausted, thrown: HookError): Error {
  return thrown.final instanceof Error ? thrown.final : new AttemptsExhausted(failure, execution, causeOf(thrown));
}

type Exhausted = Extract<AttemptOutcome, { readonly ok: false }>;

function causeOf({ error }: HookError): { readonly cause?: unknown } {
  return error === undefined ? {} : { cause: error };
}

function crashed(cause: unknown): PostChainError {
  return new PostChainError('internal', 'The attempts crashed, which is a bug in PostChain; see the cause.', { cause });
}
