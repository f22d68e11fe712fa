import type { AttemptExecution } from '../contracts/attempt.ts';
import type { AttemptPolicy } from '../contracts/attempt-policy.ts';
import { MAX_TIMER_MS } from '../contracts/budget.ts';
import type { Failure } from '../contracts/failure.ts';
import { fnv1a, spread } from '../text/hash.ts';

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
