import type { AttemptExecution, NextCall } from '../contracts/attempt.ts';
import type { AttemptPolicy } from '../contracts/attempt-policy.ts';
import type { Failure } from '../contracts/failure.ts';
import { backoffMs } from './backoff.ts';
import { feedbackFor } from './feedback.ts';
import { fallbackDue, hopeless, retryAllowed } from './retry.ts';
import { type RetryHooks, wantedCall } from './retry-hooks.ts';

interface Planned {
  /** Null: there is none. */
  readonly next: NextCall | null;
  /** The failure to end with, or that a rule of the user's own broke. */
  readonly failure: Failure;
}

/** What comes after a failed attempt, whose reply had this text; the rules of the user's own have the last word [A3]. */
export function planNextCall(
  execution: AttemptExecution,
  failure: Failure,
  text: string,
  policy: AttemptPolicy,
  { hooks, elapsedMs }: { readonly hooks: RetryHooks; readonly elapsedMs: number },
): Planned {
  const feedback = feedbackFor(text, failure, policy.maxFeedbackChars);
  if (fallbackDue(execution, failure, policy, elapsedMs).holds) return { next: { waitMs: 0, feedback }, failure };
  if (hopeless(failure).holds || !retryAllowed(execution, failure, policy, elapsedMs).holds)
    return { next: null, failure };
  const next = { waitMs: backoffMs(execution, failure, policy), feedback };
  const { value, broke } = wantedCall(hooks, next, execution, failure);
  return { next: value, failure: broke ?? failure };
}
