import type { Actor } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { onAbort } from '../../internal/on-abort.ts';
import { AttemptsExhausted } from './attempts-exhausted.ts';
import type { Thrown } from './remembered-hooks.ts';
import type { ResetUpdate } from './updates.ts';

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
  { signal, thrown }: { readonly signal: AbortSignal | undefined; readonly thrown: Thrown },
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

function causeOf({ error }: Thrown): { readonly cause?: unknown } {
  return error === undefined ? {} : { cause: error };
}

function broken(cause: unknown): PostChainError {
  return new PostChainError('internal', 'The attempts broke, a mistake in PostChain: see the cause.', { cause });
}
