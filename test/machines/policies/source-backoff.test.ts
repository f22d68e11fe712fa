import { describe, expect, it } from 'vitest';
import { nextSourceRetry, sourceMayRecover } from '../../../machines/policies/recovery.ts';
import { aState, someLimits } from '../../support/contract-samples.ts';

const limits = someLimits({ phaseMs: 10_000, maxTransportRetries: 3, backoffBaseMs: 500, backoffMaxMs: 1_500 });
const limited = { status: 429 };

/** Returns the state after these errors of the source, each followed by a backoff. */
function afterErrors(...errors: readonly unknown[]) {
  let state = aState({ limits });
  for (const error of errors) state = { ...state, sourceRetry: nextSourceRetry(state, error) };
  return state;
}

describe('the backoff for a rate-limited source', () => {
  it('[C5] doubles up to its maximum', () => {
    const waits = [0, 1, 2, 3].map((count) => nextSourceRetry(afterErrors(...Array(count).fill(limited)), limited));
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([500, 1_000, 1_500, 1_500]);
    expect(waits.map(({ retries }) => retries)).toEqual([1, 2, 3, 4]);
    expect(waits.map(({ waitedMs }) => waitedMs)).toEqual([500, 1_500, 3_000, 4_500]);
  });

  it.each([
    [{ retryAfterMs: 0 }, 0],
    [{ retryAfterMs: 40 }, 40],
    [{ status: 429, retryAfterMs: -1 }, 500],
    [{ status: 429, retryAfterMs: 'soon' }, 500],
  ])('[C5] follows the delay requested by the source if it is valid: %j', (error, waitMs) => {
    expect(nextSourceRetry(afterErrors(), error).waitMs).toBe(waitMs);
    expect(sourceMayRecover(afterErrors(), error).holds).toBe(true);
  });

  it('[C5] [C8] never exceeds half of the phase timeout in total', () => {
    const wishes = (retryAfterMs: number) => ({ retryAfterMs });
    expect(sourceMayRecover(afterErrors(), wishes(5_000)).holds).toBe(true);
    expect(sourceMayRecover(afterErrors(), wishes(5_001)).holds).toBe(false);
    expect(sourceMayRecover(afterErrors(wishes(3_000)), wishes(2_000)).holds).toBe(true);
    expect(sourceMayRecover(afterErrors(wishes(3_000)), wishes(2_001))).toEqual({
      holds: false,
      inputs: { limited: true, retries: 1, maxRetries: 3, waitMs: 2_001, waitedMs: 5_001, longestMs: 5_000 },
    });
  });
});
