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
 * The user's own retry rules, in addition to the policy's numbers. They run within a transition, so they must be pure:
 * no I/O, clock or randomness. A hook that throws or returns an invalid value is a programming error: it ends the
 * attempts with the failure `policy_broke`.
 */
export interface RetryHooks {
  /**
   * Called if the budgets allow another call of the same model; `false` ends the attempts. It cannot allow what the
   * budgets do not.
   */
  readonly shouldRetry?: (execution: AttemptExecution, failure: Failure) => boolean;
  /** Returns the record of a failed attempt to keep, for example without its text. */
  readonly recordFailure?: (record: AttemptRecord, execution: AttemptExecution) => AttemptRecord;
  /** Returns the next call, for example with a longer wait or other feedback. */
  readonly prepareRetry?: (next: NextCall, execution: AttemptExecution, failure: Failure) => NextCall;
}

export const NO_HOOKS: RetryHooks = {};

export const POLICY_BROKE = 'policy_broke';

/** The result of a hook, or the failure of one that threw or returned something invalid. */
type HookResult<Value> =
  | { readonly value: Value; readonly broke: null }
  | { readonly value: null; readonly broke: Failure };

export function keptRecord(
  hooks: RetryHooks,
  record: AttemptRecord,
  execution: AttemptExecution,
): HookResult<AttemptRecord> {
  const { recordFailure } = hooks;
  if (recordFailure === undefined) return { value: record, broke: null };
  return runHook('recordFailure', () => attemptRecordSchema.parse(recordFailure(record, execution)));
}

/** The next call, or null if a hook declines it. */
export function requestedCall(
  { shouldRetry, prepareRetry }: RetryHooks,
  next: NextCall,
  execution: AttemptExecution,
  failure: Failure,
): HookResult<NextCall | null> {
  const allowed = runHook(
    'shouldRetry',
    () => shouldRetry === undefined || requireBoolean(shouldRetry(execution, failure)),
  );
  if (allowed.broke !== null) return allowed;
  if (!allowed.value) return { value: null, broke: null };
  if (prepareRetry === undefined) return { value: next, broke: null };
  return runHook('prepareRetry', () => nextCallSchema.parse(prepareRetry(next, execution, failure)));
}

/** A promise would be truthy whatever it resolves to. */
function requireBoolean(given: unknown): boolean {
  if (typeof given === 'boolean') return given;
  if (given instanceof Promise) given.catch(() => {});
  throw new TypeError(`expected a boolean; received ${given instanceof Promise ? 'a promise' : typeof given}`);
}

function runHook<Value>(rule: string, work: () => Value): HookResult<Value> {
  try {
    return { value: work(), broke: null };
  } catch (error) {
    const message = `The retry hook ${rule} failed: ${unexpectedFailure(error).message}`;
    return { value: null, broke: failureOf('unexpected', POLICY_BROKE, message, { retryable: false }) };
  }
}
