import { PostChainError } from '../contracts/error.ts';
import type { Failure, FailureStage } from '../contracts/failure.ts';

/** A failure with everything but its stage, code and message left at "nothing known". */
export function failureOf(
  stage: FailureStage,
  code: string,
  message: string,
  known: Partial<Pick<Failure, 'retryable' | 'retryAfterMs' | 'status' | 'issues'>> = {},
): Failure {
  return { stage, code, message, retryable: true, retryAfterMs: null, status: null, issues: [], ...known };
}

/** Something threw that never should: told in one line, and not tried again. */
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

/** Stands where a failure should be and none is: seen in a journal, it points at a mistake in a chart. */
export const NO_FAILURE: Failure = failureOf('unexpected', 'no_failure', 'There is no failure to speak of.', {
  retryable: false,
});

/** The process that read a reply ended before the reply did: it is asked for anew, and no budget of retries is charged. */
export const LOST: Failure = failureOf('transport', 'reply_lost', 'The process ended in the middle of the reply.');

/** Whatever was thrown, in words: anything can be, even what has no text. */
function textOf(thrown: unknown): string {
  try {
    const message = thrown instanceof Error ? thrown.message : thrown;
    return typeof message === 'string' ? message : String(message);
  } catch {
    return 'something was thrown that has no text';
  }
}
