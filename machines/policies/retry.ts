import type { AttemptExecution, AttemptPolicy, AttemptRecord, Feedback } from '../contracts/attempt.ts';
import { MAX_TIMER_MS } from '../contracts/budget.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Verdict } from '../contracts/verdict.ts';
import { addCall } from './usage.ts';

/**
 * When to try again, how long to wait, and what to tell the model [A3, A4, A9, A13]. Corrections (the reply was there and
 * wrong) and transport retries (it never came whole) have budgets of their own.
 */

const isTransport = (failure: Failure): boolean => failure.stage === 'transport';

/** A failure that no further call can mend: a refused key, a bad request, an answer refused. */
export function hopeless(failure: Failure): Verdict {
  return { holds: !failure.retryable, inputs: { stage: failure.stage, code: failure.code, status: failure.status } };
}

/** Whether the budget for this kind of failure has a call left. */
export function retryAllowed(execution: AttemptExecution, failure: Failure, policy: AttemptPolicy): Verdict {
  const transport = isTransport(failure);
  const used = transport ? execution.transportRetries : execution.corrections;
  const allowed = transport ? policy.maxTransportRetries : policy.maxCorrections;
  const calls = execution.usage.modelCalls;
  return {
    holds: used < allowed && calls < policy.maxCalls,
    inputs: { kind: transport ? 'transport' : 'correction', used, allowed, calls, maxCalls: policy.maxCalls },
  };
}

/** The wait before the next call in milliseconds: none for a correction, Retry-After or exponential for transport. */
export function backoffMs(execution: AttemptExecution, failure: Failure, policy: AttemptPolicy): number {
  if (!isTransport(failure)) return 0;
  if (failure.retryAfterMs !== null) return Math.min(MAX_TIMER_MS, failure.retryAfterMs);
  return Math.min(policy.backoffMaxMs, policy.backoffBaseMs * 2 ** execution.transportRetries);
}

/** The execution with one more finished attempt in it. */
export function recordAttempt(execution: AttemptExecution, record: AttemptRecord): AttemptExecution {
  return { ...execution, attempts: [...execution.attempts, record], usage: addCall(execution.usage, record.usage) };
}

/** The execution with the coming call charged to the budget that pays for it. */
export function countRetry(execution: AttemptExecution, failure: Failure): AttemptExecution {
  return isTransport(failure)
    ? { ...execution, transportRetries: execution.transportRetries + 1 }
    : { ...execution, corrections: execution.corrections + 1 };
}

const MAX_REPLY_CHARS = 4_000;
const MAX_ISSUES = 10;
const MAX_ISSUE_CHARS = 300;

/** What the next call tells the model of the last one; nothing after a transport failure, where there is nothing to mend. */
export function feedbackFor(text: string, failure: Failure): Feedback | null {
  if (isTransport(failure)) return null;
  const issues = failure.issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => shorten(`- ${path || '(root)'}: ${message}`, MAX_ISSUE_CHARS));
  const more = failure.issues.length - issues.length;
  if (more > 0) issues.push(`- and ${more} more`);
  return {
    previousReply: shorten(text, MAX_REPLY_CHARS),
    problem: [shorten(failure.message, MAX_ISSUE_CHARS), ...issues].join('\n'),
  };
}

/** The beginning and the end of an over-long text, with what was left out said in between. */
function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/u, '');
  const tail = text.slice(-half).replace(/^[\uDC00-\uDFFF]/u, '');
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}
