import type {
  AttemptExecution,
  AttemptInput,
  AttemptPolicy,
  AttemptRecord,
  Feedback,
  NextCall,
} from '../contracts/attempt.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure, FailureStage } from '../contracts/failure.ts';
import { MAX_TIMER_MS } from '../contracts/limits.ts';
import { fnv1a, spread } from '../text/hash.ts';
import { POLICY_BROKE, type RetryHooks, wantedCall } from './retry-hooks.ts';
import { addCall, NO_USAGE } from './usage.ts';

/**
 * When to try again, how long to wait, and what to tell the model [A3, A4, A9, A13]. Corrections (the reply was there and
 * wrong) and transport retries (it never came whole) have budgets of their own. An execution that is asked about has the failed
 * attempt in it already, as its last.
 */

const isTransport = (failure: Failure): boolean => failure.stage === 'transport';

/** An execution in which nothing was called yet. */
export function newExecution({ id, task }: Pick<AttemptInput, 'id' | 'task'>): AttemptExecution {
  return { id, task, attempts: [], corrections: 0, transportRetries: 0, fallbacks: 0, usage: NO_USAGE };
}

/** A failure that no further call can mend: a refused key, a bad request, an answer refused. */
export function hopeless(failure: Failure): GuardResult {
  return { holds: !failure.retryable, inputs: { stage: failure.stage, code: failure.code, status: failure.status } };
}

/**
 * Whether the budget for this kind of failure has a call left, and the time does: a server that asks for an hour is not waited for in
 * vain. `elapsedMs` is what the attempts and waits so far took.
 */
export function retryAllowed(
  execution: AttemptExecution,
  failure: Failure,
  policy: AttemptPolicy,
  elapsedMs: number,
): GuardResult {
  const transport = isTransport(failure);
  const used = transport ? execution.transportRetries : execution.corrections;
  const allowed = transport ? policy.maxTransportRetries : policy.maxCorrections;
  const calls = execution.usage.modelCalls;
  const repeated = policy.stopOnRepeatedError && repeatsError(execution);
  const waitMs = backoffMs(execution, failure, policy);
  const leftMs = policy.totalMs - elapsedMs;
  const paid = tokensAllow(execution, policy);
  return {
    holds: used < allowed && calls < policy.maxCalls && paid.holds && !repeated && waitMs < leftMs,
    inputs: {
      kind: transport ? 'transport' : 'correction',
      used,
      allowed,
      calls,
      maxCalls: policy.maxCalls,
      waitMs,
      leftMs,
      ...paid.inputs,
      ...(policy.stopOnRepeatedError && { repeated }),
    },
  };
}

/**
 * Whether the next model takes over: there is one, and the model under way has no retry left, or as many attempts have failed as
 * `fallbackAfter` says. That call is charged to neither budget, so a fallback is always called once. Time that has run out is no
 * model's fault, and neither is a rule that broke.
 */
export function fallbackDue(
  execution: AttemptExecution,
  failure: Failure,
  policy: AttemptPolicy,
  elapsedMs: number,
): GuardResult {
  const { fallbacks, attempts, usage } = execution;
  const left = policy.maxFallbacks - fallbacks;
  const stuck = hopeless(failure).holds || !retryAllowed(execution, failure, policy, elapsedMs).holds;
  const failed = attempts.filter(({ model }) => model === fallbacks).length;
  return {
    holds:
      left > 0 &&
      failure.stage !== 'deadline' &&
      failure.code !== POLICY_BROKE &&
      usage.modelCalls < policy.maxCalls &&
      tokensAllow(execution, policy).holds &&
      (stuck || failed >= policy.fallbackAfter),
    inputs: { left, stuck, failed, calls: usage.modelCalls, maxCalls: policy.maxCalls },
  };
}

/** Whether another prompt like the last fits in the tokens that are left. */
function tokensAllow({ usage, attempts }: AttemptExecution, { maxTokens }: AttemptPolicy): GuardResult {
  if (maxTokens === null) return { holds: true, inputs: {} };
  const tokens = usage.inputTokens + usage.outputTokens;
  const promptTokens = attempts.at(-1)?.usage.inputTokens ?? 0;
  return { holds: tokens + promptTokens <= maxTokens, inputs: { tokens, promptTokens, maxTokens } };
}

/** Whether the last two replies of the model under way that came and were wrong are so in the same way, place by place. */
function repeatsError({ attempts, fallbacks }: AttemptExecution): boolean {
  const wrong = attempts.flatMap(({ failure, model }) =>
    failure === null || isTransport(failure) || model !== fallbacks ? [] : [failure],
  );
  const [before, last] = wrong.slice(-2).map(({ stage, code, issues }) => JSON.stringify([stage, code, issues]));
  return last !== undefined && before === last && attempts.at(-1)?.failure === wrong.at(-1);
}

/** The execution with one more finished attempt in it, at its model's price. */
export function recordAttempt(
  execution: AttemptExecution,
  record: AttemptRecord,
  prices: AttemptPolicy['prices'],
): AttemptExecution {
  const price = prices[record.model] ?? null;
  return {
    ...execution,
    attempts: [...execution.attempts, record],
    usage: addCall(execution.usage, record.usage, price),
  };
}

/** The execution with the coming call charged to the budget that pays for it. */
export function countRetry(execution: AttemptExecution, failure: Failure): AttemptExecution {
  return isTransport(failure)
    ? { ...execution, transportRetries: execution.transportRetries + 1 }
    : { ...execution, corrections: execution.corrections + 1 };
}

/** The execution with the next model under way. */
export function countFallback(execution: AttemptExecution): AttemptExecution {
  return { ...execution, fallbacks: execution.fallbacks + 1 };
}

/**
 * The wait before the next call in milliseconds: none for a correction; for transport what the server asked for, else doubled with
 * each retry up to a longest, less what the jitter draws.
 *
 * Jitter is to keep clients that failed together from coming back together. It is drawn from the execution's id and the number of the
 * retry, not from chance: executions with different ids spread, and a replayed one waits as it did.
 *
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(execution: AttemptExecution, failure: Failure, policy: AttemptPolicy): number {
  if (failure.stage !== 'transport') return 0;
  if (failure.retryAfterMs !== null) return Math.min(MAX_TIMER_MS, failure.retryAfterMs);
  const whole = Math.min(policy.backoffMaxMs, policy.backoffBaseMs * 2 ** execution.transportRetries);
  return whole * (1 - policy.backoffJitter * drawn(`${execution.id} ${execution.transportRetries}`));
}

/** A number from 0 to below 1 out of a text, evenly spread over texts: FNV-1a with the finish of MurmurHash3. */
function drawn(text: string): number {
  return (spread(fnv1a(text)) >>> 0) / 2 ** 32;
}

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
