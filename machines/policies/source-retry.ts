import type { ChainState, SourceRetry } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';

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
  const longestMs = limits.phaseMs / 2;
  return {
    holds: limited !== null && retries < limits.maxTransportRetries && waitedMs <= longestMs,
    inputs: { limited: limited !== null, retries, maxRetries: limits.maxTransportRetries, waitMs, waitedMs, longestMs },
  };
}

/** The wait before the next search: what the source requested, or else exponential backoff as between model calls. */
export function nextSourceRetry({ limits, sourceRetry }: ChainState, error: unknown): SourceRetry {
  const retries = sourceRetry?.retries ?? 0;
  const doubled = Math.min(limits.backoffMaxMs, limits.backoffBaseMs * 2 ** retries);
  const waitMs = limitOf(error)?.retryAfterMs ?? doubled;
  return { retries: retries + 1, waitMs, waitedMs: (sourceRetry?.waitedMs ?? 0) + waitMs };
}

/** What an error says about a rate limit; null if nothing. Sources are user code: anything may be thrown. */
function limitOf(error: unknown): { readonly retryAfterMs: number | null } | null {
  try {
    const { status, code, retryAfterMs } = Object(error) as Record<string, unknown>;
    const requested = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : null;
    return requested !== null || OVERLOADED.has(status) || code === 'rate_limited' ? { retryAfterMs: requested } : null;
  } catch {
    return null;
  }
}
