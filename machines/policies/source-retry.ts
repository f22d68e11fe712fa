import type { ChainState, SourceRetry } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';

/** The statuses by which a server says that it has too much to do [RFC 6585, RFC 9110]. */
const TOO_MUCH: ReadonlySet<unknown> = new Set([429, 503]);

/**
 * Whether a source that failed is asked once more [C5]: it said that its rate is limited (an error with `status` 429 or 503, with `code`
 * `rate_limited`, or with `retryAfterMs`), there is a retry left, and all waits together are within half of the phase's time.
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

/** The wait before the source is asked again: what it wished, else doubled each time as between model calls. */
export function nextSourceRetry({ limits, sourceRetry }: ChainState, error: unknown): SourceRetry {
  const retries = sourceRetry?.retries ?? 0;
  const doubled = Math.min(limits.backoffMaxMs, limits.backoffBaseMs * 2 ** retries);
  const waitMs = limitOf(error)?.retryAfterMs ?? doubled;
  return { retries: retries + 1, waitMs, waitedMs: (sourceRetry?.waitedMs ?? 0) + waitMs };
}

/** What an error says of a limited rate; null where it says nothing of it. Sources are the user's code: anything may be thrown. */
function limitOf(error: unknown): { readonly retryAfterMs: number | null } | null {
  try {
    const { status, code, retryAfterMs } = Object(error) as Record<string, unknown>;
    const wished = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : null;
    return wished !== null || TOO_MUCH.has(status) || code === 'rate_limited' ? { retryAfterMs: wished } : null;
  } catch {
    return null;
  }
}
