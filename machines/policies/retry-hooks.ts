import {
  type AttemptExecution,
  type AttemptRecord,
  attemptRecordSchema,
  type NextCall,
  nextCallSchema,
} from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';
import { failureOf, unexpectedFailure } from './failures.ts';

/**
 * Rules of the user's own beside the policy's numbers [A3]. They are asked within a transition, so they are pure: no I/O, no clock,
 * no chance. One that throws, or gives what is none, is a mistake in the program: it ends the attempts with a failure `policy_broke`.
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

export const POLICY_BROKE = 'policy_broke';

/** What a rule gave, or the failure of one that threw or gave something else. */
type Asked<Value> = { readonly value: Value; readonly broke: null } | { readonly value: null; readonly broke: Failure };

export function keptRecord(
  hooks: RetryHooks,
  record: AttemptRecord,
  execution: AttemptExecution,
): Asked<AttemptRecord> {
  const { recordFailure } = hooks;
  if (recordFailure === undefined) return { value: record, broke: null };
  return ask('recordFailure', () => attemptRecordSchema.parse(recordFailure(record, execution)));
}

/** The call to come, or null where a rule declines it. */
export function wantedCall(
  { shouldRetry, prepareRetry }: RetryHooks,
  next: NextCall,
  execution: AttemptExecution,
  failure: Failure,
): Asked<NextCall | null> {
  const wanted = ask('shouldRetry', () => shouldRetry === undefined || truth(shouldRetry(execution, failure)));
  if (wanted.broke !== null) return wanted;
  if (!wanted.value) return { value: null, broke: null };
  if (prepareRetry === undefined) return { value: next, broke: null };
  return ask('prepareRetry', () => nextCallSchema.parse(prepareRetry(next, execution, failure)));
}

/** A promise would be true whatever it comes to. */
function truth(given: unknown): boolean {
  if (typeof given === 'boolean') return given;
  if (given instanceof Promise) given.catch(() => {});
  throw new TypeError(`it gave ${given instanceof Promise ? 'a promise' : typeof given}, wanted true or false`);
}

function ask<Value>(rule: string, work: () => Value): Asked<Value> {
  try {
    return { value: work(), broke: null };
  } catch (error) {
    const message = `The retry policy's ${rule} broke: ${unexpectedFailure(error).message}`;
    return { value: null, broke: failureOf('unexpected', POLICY_BROKE, message, { retryable: false }) };
  }
}
