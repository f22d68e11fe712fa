import type { AttemptExecution, AttemptInput, AttemptRecord } from '../contracts/attempt.ts';
import type { AttemptPolicy } from '../contracts/attempt-policy.ts';
import type { Failure } from '../contracts/failure.ts';
import type { GuardResult } from '../contracts/guard-result.ts';
import { backoffMs } from './backoff.ts';
import { POLICY_BROKE } from './retry-hooks.ts';
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
