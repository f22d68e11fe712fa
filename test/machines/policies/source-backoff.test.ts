import { describe, expect, it } from 'vitest';
import { backOff, endSearch, searchToStart, sourceError, sourceMayRecover } from '../../../machines/policies/search.ts';
import { aState, someLimits } from '../../support/contract-samples.ts';

const limits = someLimits({ phaseMs: 10_000, maxTransportRetries: 3, backoffBaseMs: 500, backoffMaxMs: 1_500 });
const limited = { status: 429 };

/** Returns the state after a search that failed with this error, and earlier ones, each followed by a backoff. */
function afterErrors(...errors: readonly unknown[]) {
  let state = aState({ limits, hasDocuments: true });
  for (const [at, error] of errors.entries()) {
    if (at > 0) state = { ...state, ...backOff(state) };
    const search = searchToStart(state);
    state = { ...state, ...endSearch({ ...state, search }, { found: null, error: sourceError(error) }) };
  }
  return state;
}

/** Returns the retry that follows. */
const retryAfter = (...errors: readonly unknown[]) => backOff(afterErrors(...errors)).sourceRetry;

describe('the backoff for a rate-limited source', () => {
  it('[C5] doubles up to its maximum', () => {
    const waits = [1, 2, 3, 4].map((count) => retryAfter(...Array(count).fill(limited)));
    expect(waits).toEqual([
      { retries: 1, waitMs: 500, waitedMs: 500 },
      { retries: 2, waitMs: 1_000, waitedMs: 1_500 },
      { retries: 3, waitMs: 1_500, waitedMs: 3_000 },
      { retries: 4, waitMs: 1_500, waitedMs: 4_500 },
    ]);
  });

  it.each([
    [{ retryAfterMs: 0 }, 0],
    [{ retryAfterMs: 40 }, 40],
    [{ status: 429, retryAfterMs: -1 }, 500],
    [{ status: 429, retryAfterMs: 'soon' }, 500],
  ])('[C5] follows the delay requested by the source if it is valid: %j', (error, waitMs) => {
    expect(retryAfter(error)?.waitMs).toBe(waitMs);
    expect(sourceMayRecover(afterErrors(error)).holds).toBe(true);
  });

  it('[C5] [C8] never exceeds half of the phase timeout in total', () => {
    const wishes = (retryAfterMs: number) => ({ retryAfterMs });
    expect(sourceMayRecover(afterErrors(wishes(5_000))).holds).toBe(true);
    expect(sourceMayRecover(afterErrors(wishes(5_001))).holds).toBe(false);
    expect(sourceMayRecover(afterErrors(wishes(3_000), wishes(2_000))).holds).toBe(true);
    expect(sourceMayRecover(afterErrors(wishes(3_000), wishes(2_001)))).toEqual({
      holds: false,
      inputs: { limited: true, retries: 1, maxRetries: 3, waitMs: 2_001, waitedMs: 5_001, longestMs: 5_000 },
    });
  });
});
