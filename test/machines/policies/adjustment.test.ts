import { describe, expect, it } from 'vitest';
import { initialState } from '../../../machines/policies/progress.ts';
import { adjust } from '../../../machines/policies/usage.ts';
import { aChainInput } from '../../support/contract-samples.ts';

describe('adjusting limits and thresholds during a run', () => {
  const state = initialState(aChainInput());

  it('replaces only the named values', () => {
    const next = adjust(state, { limits: { maxCycles: 9 }, thresholds: { confidence: 0.2 } });
    expect(next).toEqual({
      limits: { ...state.limits, maxCycles: 9 },
      thresholds: { ...state.thresholds, confidence: 0.2 },
    });
  });

  it.each([
    { limits: { maxCycles: 0 } },
    { limits: { maxCycles: 1.5 } },
    { limits: { cycles: 2 } },
    { thresholds: { confidence: 2 } },
    { thresholds: { prune: 0.9, summarize: 0.1 } },
    { thresholds: { confidence: Number.NaN } },
  ])('ignores invalid values: %j', (adjustment) => {
    const next = { ...state, ...adjust(state, adjustment) };
    expect([next.limits, next.thresholds]).toEqual([state.limits, state.thresholds]);
  });
});
