import type { StandardSchemaV1 } from '@standard-schema/spec';
import { createActor } from 'xstate';
import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import { systemClock } from '../../durable/clock.ts';
import { resolveAttempt } from './create-attempt.ts';
import { createAttemptRun } from './output-handle.ts';
import { noopCallObserver } from './provide-attempt.ts';
import type { StructuredOutputOptions } from './structured-output.ts';

interface UnwatchedAttempts {
  /** Rejects with `AttemptsExhausted`, or with PostChainError `cancelled`. */
  readonly value: Promise<unknown>;
  readonly execution: () => AttemptExecution;
}

/**
 * Starts the attempts for one value: structured output without its updates and elements.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`, before anything starts.
 */
export function startAttempts({
  prompt,
  signal,
  ...options
}: StructuredOutputOptions<StandardSchemaV1>): UnwatchedAttempts {
  const { machine, input, thrown } = resolveAttempt(options, noopCallObserver, []);
  const actor = createActor(machine, { input: input(prompt), clock: options.clock ?? systemClock });
  const value = new Promise<unknown>((onValue, onError) => {
    createAttemptRun(actor, { onReset: () => {}, onValue, onError }, { signal, thrown }).start();
  });
  return { value, execution: () => actor.getSnapshot().context.execution };
}
