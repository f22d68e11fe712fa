import { PostChainError } from '../contracts/error.ts';
import type { Failure, FailureStage } from '../contracts/failure.ts';

export function failureOf(
  stage: FailureStage,
  code: string,
  message: string,
  known: Partial<Pick<Failure, 'retryable' | 'retryAfterMs' | 'status' | 'issues'>> = {},
): Failure {
  return { stage, code, message, retryable: true, retryAfterMs: null, status: null, issues: [], ...known };
}

/**
 * Returns the failure for an error that should never occur, not retryable: the first line of its message with that of its cause, or the
 * issues of a validation error.
 */
export function unexpectedFailure(error: unknown): Failure {
  const isMissing = error instanceof PostChainError && error.code === 'port_missing';
  return failureOf('unexpected', isMissing ? error.code : 'unexpected', textOf(error) || 'an error without a message', {
    retryable: false,
  });
}

/** A placeholder for a missing failure: if it appears in a journal, a chart has a bug. */
export const NO_FAILURE: Failure = failureOf('unexpected', 'no_failure', 'No failure was recorded.', {
  retryable: false,
});

/** The process that read a reply ended before the reply did: it is requested again, without charging a retry budget. */
export const LOST: Failure = failureOf('transport', 'reply_lost', 'The process ended in the middle of the reply.');

/** Returns the failure of a phase or an attempt that was stopped from outside. */
export function aborted(cause: string): Failure {
  return failureOf('aborted', 'aborted', `Aborted: ${cause}.`, { retryable: false });
}

/** Returns one line for whatever was thrown; empty if it says nothing. */
function textOf(thrown: unknown): string {
  // Its message is complete.
  if (thrown instanceof PostChainError) return firstLine(thrown);
  try {
    const { issues, errors, cause } = Object(thrown) as Record<string, unknown>;
    const inner = Array.isArray(errors) && errors.length > 0 ? firstLine(errors[0]) : '';
    const own = issuesText(issues) || firstLine(thrown) || inner;
    const reason = cause === undefined || cause === null ? '' : firstLine(cause);
    return reason === '' || own.includes(reason) ? own : `${own || 'an error without a message'} (${reason})`;
  } catch {
    return 'an error without readable text';
  }
}

function firstLine(thrown: unknown): string {
  const { message } = Object(thrown) as { readonly message?: unknown };
  const text = typeof message === 'string' ? message : String(thrown);
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}

/** Issues of a validation error that its text names; their message is JSON in zod. */
const MAX_ISSUES = 3;

function issuesText(issues: unknown): string {
  if (!Array.isArray(issues)) return '';
  const texts = issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    const { path, message } = Object(issue) as Record<string, unknown>;
    const where = Array.isArray(path) ? path.map(String).join('.') : '';
    if (typeof message !== 'string') return [];
    return where === '' ? message : `${where}: ${message}`;
  });
  return texts.join('; ');
}

/** The code of a call that was not made, because it could exceed the cost limit. */
const OVER_BUDGET = 'over_budget';

export const isOverBudget = ({ code }: Failure): boolean => code === OVER_BUDGET;

export const overBudget = (): Failure =>
  failureOf(
    'aborted',
    OVER_BUDGET,
    'The model was not called, because the call could cost more than what is left of limits.maxCost.',
    { retryable: false },
  );

/** Whether a call did not run because a person denied it, or nobody answered in time. */
export const wasDenied = (code: string | null | undefined): boolean =>
  code === 'denied' || code === 'approval_timed_out';
