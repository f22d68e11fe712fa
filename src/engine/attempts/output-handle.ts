import type { Actor } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { onAbort } from '../../internal/async.ts';
import { AttemptsExhausted } from './attempts-exhausted.ts';
import type { HookError } from './create-attempt.ts';
import type { ElementFeed } from './element-feed.ts';
import { type Feed, iterableOf, type Reader } from './feed.ts';
import type { ElementUpdate, ResetUpdate, StructuredUpdate } from './updates.ts';

/** A value under way, or done. Nothing is called before somebody asks for the value, an update or an element. */
export interface StructuredOutput<Input, Output> extends AsyncIterable<StructuredUpdate<Input, Output>> {
  /** The validated value. Rejects with `AttemptsExhausted`, or with PostChainError `cancelled`. */
  readonly value: Promise<Output>;
  /** The items of a list, each validated as it is complete. Of any other schema, reading this throws `invalid_option`. */
  readonly elements: Output extends readonly (infer Item)[] ? AsyncIterable<ElementUpdate<Item>> : never;
  /** Step by step: whether `next` has something to give, an update or the error; waits until that is known. */
  readonly hasNext: () => Promise<boolean>;
  /** The next update. Rejects where there is no value in the end, and when there is no update left. */
  readonly next: () => Promise<StructuredUpdate<Input, Output>>;
  /** All attempts so far: immutable and serialisable. */
  readonly execution: AttemptExecution;
  /** Ends everything at once and closes the connection; `value` rejects with `cancelled`. */
  readonly cancel: (reason?: string) => void;
  /** The XState actor that runs: to inspect, and to hear facts (`actor.on('attempt-end', …)`). */
  readonly actor: Actor<typeof attemptMachine>;
}

interface HandleParts<Output> {
  readonly actor: Actor<typeof attemptMachine>;
  readonly run: AttemptRun;
  readonly updates: Feed<StructuredUpdate>;
  readonly items: ElementFeed | null;
  readonly value: Promise<Output>;
}

/** What the user holds. What begins a call stands on the prototype, so that to spread, log or serialise it begins none. */
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
      throw new PostChainError(
        'invalid_option',
        'elements: got a schema that is no list; wanted one; await the value.',
      );
    return iterableOf(items.feed, run.start, this.#leave) as never;
  }

  get execution(): AttemptExecution {
    return this.#parts.actor.getSnapshot().context.execution;
  }

  get actor(): Actor<typeof attemptMachine> {
    return this.#parts.actor;
  }

  readonly hasNext = (): Promise<boolean> => this.#steps().hasNext();

  readonly next = async (): Promise<StructuredUpdate<Input, Output>> => {
    const step = await this.#steps().next();
    if (!step.done) return step.value as StructuredUpdate<Input, Output>;
    throw new PostChainError('invalid_option', 'next: there is no update left; ask hasNext before it.');
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

  /** The last one to leave stops the call: nobody would see what it costs. */
  readonly #leave = (): void => {
    const { updates, items, run } = this.#parts;
    if (updates.readers === 0 && !items?.isWanted && !this.#isAwaited) run.cancel('nobody reads it any more');
  };
}

/** Who hears how attempts go: any number of resets, then exactly one `onValue` or `onError`. */
export interface AttemptListener {
  readonly onReset: (update: ResetUpdate) => void;
  readonly onValue: (value: unknown, execution: AttemptExecution) => void;
  readonly onError: (error: Error) => void;
}

/** Attempts as somebody may start and cancel them, once each. */
export interface AttemptRun {
  /** Starts the actor; a second time it does nothing. */
  start(): void;
  cancel(reason?: string): void;
}

export function createAttemptRun(
  actor: Actor<typeof attemptMachine>,
  { onReset, onValue, onError }: AttemptListener,
  { signal, thrown }: { readonly signal: AbortSignal | undefined; readonly thrown: HookError },
): AttemptRun {
  let phase: 'idle' | 'running' | 'over' = 'idle';
  let forget = (): void => {};
  let failed: Omit<ResetUpdate, 'retryInMs'> | null = null;

  /** Told once it is known what comes after the failure: another attempt, or none. */
  function reset(retryInMs: number | null): void {
    if (failed !== null) onReset({ ...failed, retryInMs });
    failed = null;
  }

  function end(tell: () => void): void {
    if (phase === 'over') return;
    phase = 'over';
    forget();
    reset(null);
    tell();
  }

  function cancel(reason = 'it was cancelled'): void {
    const because = signal?.aborted ? { cause: signal.reason } : {};
    const error = new PostChainError('cancelled', `There is no value: ${reason}.`, because);
    end(() => onError(error));
    actor.stop();
  }
  const abort = (): void => cancel('its signal was aborted');

  function settle(): void {
    const { output } = actor.getSnapshot();
    if (output === undefined) cancel('its actor was stopped');
    else if (output.ok) end(() => onValue(output.value, output.execution));
    else end(() => onError(new AttemptsExhausted(output.failure, output.execution, causeOf(thrown))));
  }

  function run(): void {
    if (signal !== undefined) forget = onAbort(signal, abort);
    actor.on('attempt-end', ({ attempt, failure }) => {
      const { execution } = actor.getSnapshot().context;
      if (failure !== null) failed = { type: 'reset', attempt, failure, execution };
    });
    actor.on('attempt-retry', ({ inMs }) => reset(inMs));
    actor.subscribe({ error: (cause) => end(() => onError(broken(cause))), complete: settle });
    actor.start();
  }

  return {
    start() {
      if (phase !== 'idle') return;
      phase = 'running';
      if (signal?.aborted) abort();
      else run();
    },
    cancel,
  };
}

function causeOf({ error }: HookError): { readonly cause?: unknown } {
  return error === undefined ? {} : { cause: error };
}

function broken(cause: unknown): PostChainError {
  return new PostChainError('internal', 'The attempts broke, a mistake in PostChain: see the cause.', { cause });
}
