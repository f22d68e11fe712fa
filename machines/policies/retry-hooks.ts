import type { AttemptExecution, AttemptRecord, NextCall } from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';

/**
 * Rules of the user's own beside the policy's numbers [A3]. They are asked within transitions, so they are pure: no I/O, no clock,
 * no chance. One that throws is a mistake in the program and ends the attempts with it.
 */
export interface RetryHooks {
  /** Asked where the budgets allow one more call of the same model; `false` ends the attempts. Cannot allow what they do not. */
  readonly shouldRetry?: (execution: AttemptExecution, failure: Failure) => boolean;
  /** The record of a failed attempt as it is kept: say without its text. */
  readonly recordFailure?: (record: AttemptRecord, execution: AttemptExecution) => AttemptRecord;
  /** The call to come: a longer wait, say, or other words to the model. */
  readonly prepareRetry?: (next: NextCall, execution: AttemptExecution, failure: Failure) => NextCall;
}

/** No rule of the user's own. */
export const NO_HOOKS: RetryHooks = {};
