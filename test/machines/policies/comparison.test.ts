import { describe, expect, it } from 'vitest';
import { describeInputs, exact, isAbove, isBelow } from '../../../machines/policies/yield-rules.ts';

describe('a comparison of scores', () => {
  it.each([
    [1 - 9 / 10, 0.1],
    [0.1 + 0.2, 0.3],
    [(0.62 + 0.78) / 2, 0.7],
  ])('[Y13] of %d with %d finds them equal', (score, threshold) => {
    expect([isBelow(score, threshold), isAbove(score, threshold), exact(score)]).toEqual([false, false, threshold]);
  });

  it.each([
    [{ change: 0.0996, below: 0.1 }, 'change 0.0996, below 0.1'],
    [{ change: 0.099999, below: 0.1 }, 'change 0.099999, below 0.1'],
    [{ change: 1 / 3, below: 0.1 }, 'change 0.333, below 0.1'],
    [{ confidence: 0.9000001, above: 0.9, grounding: null }, 'confidence 0.9000001, above 0.9, grounding null'],
    [{ tokens: 1_000_000_000, maxTokens: 1_000_000_001 }, 'tokens 1000000000, maxTokens 1000000001'],
    [{ change: 1 - 9 / 10, below: 0.1 }, 'change 0.1, below 0.1'],
  ])('[Y13] prints values that agree with it: %j', (inputs, text) => {
    expect(describeInputs(inputs)).toBe(text);
  });
});
