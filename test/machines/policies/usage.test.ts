import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TokenUsage, type Usage, usageSchema } from '../../../machines/contracts/usage.ts';
import { chargeExecution, initialState } from '../../../machines/policies/progress.ts';
import { addCall, addUsage, adjust, estimateTokens, NO_USAGE } from '../../../machines/policies/usage.ts';
import { aChainInput, anAttempt, anExecution, aState, deepFreeze } from '../../support/contract-samples.ts';

const call: fc.Arbitrary<TokenUsage> = fc.record(
  {
    inputTokens: fc.nat(1e6),
    outputTokens: fc.nat(1e6),
    cachedInputTokens: fc.nat(1e6),
    cacheWriteTokens: fc.nat(1e6),
    reasoningTokens: fc.nat(1e6),
    estimated: fc.boolean(),
  },
  { requiredKeys: ['inputTokens', 'outputTokens', 'estimated'] },
);
/** Tokens in the cache cost the same as others. */
const PRICE = { inputPerMillion: 2, cacheWritePerMillion: 2, outputPerMillion: 8 };
/** The sum of a number that only some calls report; nothing if none does. */
const sumOf = (name: 'cachedInputTokens' | 'cacheWriteTokens' | 'reasoningTokens', calls: readonly TokenUsage[]) => {
  const reported = calls.flatMap((one) => one[name] ?? []);
  return reported.length > 0 && { [name]: sum(reported) };
};
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe('usage', () => {
  it('[A11] adds up over all calls and is an estimate if any call is', () => {
    fc.assert(
      fc.property(fc.array(call), (calls) => {
        const total = calls.reduce<Usage>((all, one) => addCall(deepFreeze(all), deepFreeze(one), PRICE), NO_USAGE);
        expect(usageSchema.parse(total)).toEqual({
          modelCalls: calls.length,
          inputTokens: sum(calls.map(({ inputTokens }) => inputTokens)),
          outputTokens: sum(calls.map(({ outputTokens }) => outputTokens)),
          ...sumOf('cachedInputTokens', calls),
          ...sumOf('cacheWriteTokens', calls),
          ...sumOf('reasoningTokens', calls),
          estimated: calls.some(({ estimated }) => estimated),
          cost: expect.closeTo(
            sum(calls.map(({ inputTokens, outputTokens }) => (2 * inputTokens + 8 * outputTokens) / 1_000_000)),
          ),
        });
      }),
    );
  });

  const CACHED = { inputPerMillion: 3, cachedInputPerMillion: 0.3, outputPerMillion: 15 };
  it.each([
    ['written, at 1.25 times the price', { cacheWriteTokens: 98_000 }, CACHED, 0.381, -0.0735],
    [
      'written, at the given price',
      { cacheWriteTokens: 98_000 },
      { ...CACHED, cacheWritePerMillion: 6 },
      0.6015,
      -0.294,
    ],
    ['written, for nothing', { cacheWriteTokens: 98_000 }, { ...CACHED, cacheWritePerMillion: 0 }, 0.0135, 0.294],
    ['read', { cachedInputTokens: 98_000 }, CACHED, 0.0429, 0.2646],
    ['read and written', { cachedInputTokens: 50_000, cacheWriteTokens: 48_000 }, CACHED, 0.2085, 0.099],
    ['neither', { cachedInputTokens: 0, cacheWriteTokens: 0 }, CACHED, 0.3075, undefined],
    ['more written than there are', { cacheWriteTokens: 200_000 }, CACHED, 0.3825, -0.075],
    ['more read than there are', { cachedInputTokens: 200_000, cacheWriteTokens: 1 }, CACHED, 0.0375, 0.27],
  ])('[A11] prices input tokens of the cache: %s', (_, cached, price, cost, savedByCache) => {
    const one = { inputTokens: 100_000, outputTokens: 500, estimated: false, ...cached };
    const used = addCall(NO_USAGE, one, price);
    expect(usageSchema.parse(used)).toEqual({
      modelCalls: 1,
      ...one,
      cost: expect.closeTo(cost, 9),
      ...(savedByCache !== undefined && { savedByCache: expect.closeTo(savedByCache, 9) }),
    });
    const without = addCall(NO_USAGE, { inputTokens: 100_000, outputTokens: 500, estimated: false }, price).cost ?? 0;
    expect((used.cost ?? 0) + (savedByCache ?? 0)).toBeCloseTo(without, 9);
  });

  it('[A11] has no known cost if the price of any call is unknown', () => {
    const one = { inputTokens: 1, outputTokens: 1, estimated: false };
    expect(addCall(addCall(NO_USAGE, one, PRICE), one, null).cost).toBeNull();
    expect(addCall(addCall(NO_USAGE, one, null), one, PRICE).cost).toBeNull();
    expect(NO_USAGE.cost).toBe(0);
  });

  it('[A11] adds up in any order, with zero usage as the identity', () => {
    const usage = call.map((one) => addCall(NO_USAGE, one, null));
    fc.assert(
      fc.property(usage, usage, (a, b) => {
        expect(addUsage(a, b)).toEqual(addUsage(b, a));
        expect(addUsage(a, NO_USAGE)).toEqual(a);
      }),
    );
  });

  it('[A11] of an execution is charged to the run with its corrections, and its end advances the time of the run', () => {
    const attempts = [anAttempt({ startedAtMs: 100, durationMs: 5 }), anAttempt({ startedAtMs: 200, durationMs: 7 })];
    const charged = chargeExecution(aState({ corrections: 1 }), anExecution({ attempts, corrections: 2 }));
    expect(charged).toMatchObject({ usage: { modelCalls: 1, inputTokens: 10 }, corrections: 3, lastMessageAtMs: 207 });
    const { lastMessageAtMs } = aState();
    expect(chargeExecution(aState(), anExecution({ attempts: [] })).lastMessageAtMs).toBe(lastMessageAtMs);
  });

  it('[U10] estimates one token per four characters, rounded up', () => {
    expect(['', 'a', 'abcd', 'abcde'].map(estimateTokens)).toEqual([0, 1, 1, 2]);
  });
});

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
