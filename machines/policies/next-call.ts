import type { AttemptExecution, Feedback, NextCall } from '../contracts/attempt.ts';
import type { AttemptPolicy } from '../contracts/attempt-policy.ts';
import type { Failure, FailureStage } from '../contracts/failure.ts';
import { backoffMs } from './backoff.ts';
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

const MAX_ISSUES = 10;
const MAX_ISSUE_CHARS = 300;

/** Where the reply itself was wrong, so that there is something to mend. */
const STAGES: readonly FailureStage[] = ['extraction', 'schema', 'refinement', 'transformation'];

/**
 * What the next call tells the model of the last one [A9]; nothing where that was no fault of the reply, or of no use to tell. At most
 * `maxChars` characters, half of them the reply and half what is wrong with it, beside the words that say what was left out.
 */
export function feedbackFor(text: string, failure: Failure, maxChars: number): Feedback | null {
  if (maxChars === 0 || !failure.retryable || !STAGES.includes(failure.stage)) return null;
  const half = Math.floor(maxChars / 2);
  const issues = failure.issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => shorten(`- ${path || '(root)'}: ${message}`, MAX_ISSUE_CHARS));
  const more = failure.issues.length - issues.length;
  if (more > 0) issues.push(`- and ${more} more`);
  return {
    previousReply: shorten(text, maxChars - half),
    problem: shorten([shorten(failure.message, MAX_ISSUE_CHARS), ...issues].join('\n'), half),
  };
}

/** The beginning and the end of an over-long text, with what was left out said in between. */
function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/u, '');
  const tail = text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/u, '');
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}
