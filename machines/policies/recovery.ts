import type { AttemptExecution } from '../contracts/attempt.ts';
import type { ChainState, SourceRetry } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';
import { phaseDeadlineMs } from './limits.ts';
import { wasNotMade } from './model-status.ts';

/** Whether the phase was aborted but left a result: the run continues from there and repeats nothing. */
export function phaseSaved({ failure, direction }: ChainState): GuardResult {
  return { holds: failure === null, inputs: { direction } };
}

/**
 * The failure to report for a phase. If the last model was unreachable but an earlier one answered with an invalid
 * reply, the latter is more informative: models are available, and the next phase may succeed. So is any failure of a
 * call, compared with that of a model that was not called.
 */
export function informativeFailure({ attempts }: AttemptExecution, failure: Failure): Failure {
  if (!isUnreachable(failure)) return failure;
  const lastOf = new Map(attempts.map((attempt) => [attempt.model, attempt.failure]));
  const called = [...lastOf.values()].filter((last) => last !== null && !wasNotMade(last));
  const answered = called.find((last) => last !== null && !isUnreachable(last));
  return answered ?? (wasNotMade(failure) ? called.at(-1) : failure) ?? failure;
}

/** Whether a call did not reach its model. A prompt that is too long fails only its own phase: another one is shorter. */
function isUnreachable({ stage, code }: Failure): boolean {
  return stage === 'transport' && code !== 'prompt_too_long';
}

/**
 * Whether the model's calls never succeeded: the attempt machine already retried them, so the next phase would fail
 * too.
 */
export function modelUnavailable({ failure }: ChainState): GuardResult {
  const { stage = null, code = null } = failure?.failure ?? {};
  return { holds: failure !== null && isUnreachable(failure.failure), inputs: { stage, code } };
}

export function phaseMayRepeat({ failure, phaseRetries, limits }: ChainState): GuardResult {
  const retryable = failure?.failure.retryable ?? false;
  const { maxPhaseRetries } = limits;
  return { holds: retryable && phaseRetries < maxPhaseRetries, inputs: { retryable, phaseRetries, maxPhaseRetries } };
}

/** Whether the run can continue without the phase: any but Yield, which decides. */
export function phaseMayBeSkipped({ failure }: ChainState): GuardResult {
  const phase = failure?.phase ?? null;
  return { holds: phase !== null && phase !== 'yield', inputs: { phase } };
}

/** HTTP statuses of an overloaded server [RFC 6585, RFC 9110]. */
const OVERLOADED: ReadonlySet<unknown> = new Set([429, 503]);

/**
 * Whether a failed source is searched again: it reported a rate limit (an error with `status` 429 or 503, with `code`
 * `rate_limited`, or with `retryAfterMs`), there is a retry left, and all waits together take at most half of the
 * phase's time.
 */
export function sourceMayRecover(state: ChainState, error: unknown): GuardResult {
  const { limits, sourceRetry } = state;
  const retries = sourceRetry?.retries ?? 0;
  const limited = limitOf(error);
  const { waitMs, waitedMs } = nextSourceRetry(state, error);
  const longestMs = phaseDeadlineMs(limits, 'experience') / 2;
  return {
    holds: limited !== null && retries < limits.maxTransportRetries && waitedMs <= longestMs,
    inputs: { limited: limited !== null, retries, maxRetries: limits.maxTransportRetries, waitMs, waitedMs, longestMs },
  };
}

/**
 * Returns the wait before the next search: what the source requested, or else exponential backoff as between model
 * calls.
 */
export function nextSourceRetry({ limits, sourceRetry }: ChainState, error: unknown): SourceRetry {
  const retries = sourceRetry?.retries ?? 0;
  const doubled = Math.min(limits.backoffMaxMs, limits.backoffBaseMs * 2 ** retries);
  const waitMs = limitOf(error)?.retryAfterMs ?? doubled;
  return { retries: retries + 1, waitMs, waitedMs: (sourceRetry?.waitedMs ?? 0) + waitMs };
}

/** Returns the rate limit that an error reports, or null. Sources are user code: anything may be thrown. */
function limitOf(error: unknown): { readonly retryAfterMs: number | null } | null {
  try {
    const { status, code, retryAfterMs } = Object(error) as Record<string, unknown>;
    const requested = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : null;
    return requested !== null || OVERLOADED.has(status) || code === 'rate_limited' ? { retryAfterMs: requested } : null;
  } catch {
    return null;
  }
}
