import { PostChainError } from '../contracts/error.ts';
import type { Failure, FailureStage } from '../contracts/failure.ts';

/** Returns a failure, with neutral values for the fields that are not given. */
export function failureOf(
  stage: FailureStage,
  code: string,
  message: string,
  known: Partial<Pick<Failure, 'retryable' | 'retryAfterMs' | 'status' | 'issues'>> = {},
): Failure {
  return { stage, code, message, retryable: true, retryAfterMs: null, status: null, issues: [], ...known };
}

/** Returns the failure for an error that should never occur: its first line, not retryable. */
export function unexpectedFailure(error: unknown): Failure {
  const isMissing = error instanceof PostChainError && error.code === 'port_missing';
  return failureOf(
    'unexpected',
    isMissing ? error.code : 'unexpected',
    textOf(error).split('\n', 1)[0] || 'an error without a message',
    {
      retryable: false,
    },
  );
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

/** Returns the text of whatever was thrown. */
function textOf(thrown: unknown): string {
  try {
    const message = thrown instanceof Error ? thrown.message : thrown;
    return typeof message === 'string' ? message : String(message);
  } catch {
    return 'an error without readable text';
  }
}
