import { describe, expect, it } from 'vitest';
import { limitsSchema, thresholdsSchema } from '../../../machines/contracts/limits.ts';

const limits = limitsSchema.parse({});
const thresholds = thresholdsSchema.parse({});
const named = (schema: typeof limitsSchema | typeof thresholdsSchema, value: object) =>
  schema.safeParse(value).error?.issues[0]?.path.join('.');

describe('run defaults', () => {
  it.each([
    ['[Y2] five cycles', limits.maxCycles, 5],
    ['[R3] five runs of capabilities', limits.maxContinuations, 5],
    ['[A4] two corrections', limits.maxCorrections, 2],
    ['[Y2] confidence above 0.9', thresholds.confidence, 0.9],
    ['[Y2] a change below 0.1', thresholds.change, 0.1],
    ['[Y3] sufficiency below 0.7', thresholds.sufficiency, 0.7],
    ['[Y3] more than ten messages', thresholds.crowdedMessages, 10],
    ['[C6] alignment above 0.7', thresholds.alignment, 0.7],
    ['[C6] alignment below 0.3', thresholds.lowAlignment, 0.3],
    ['[C7] links above 0.7', thresholds.link, 0.7],
    ['[C7] tags above 0.65', thresholds.persist, 0.65],
    ['[U5] pruning below 0.3', thresholds.prune, 0.3],
    ['[U5] summaries below 0.7', thresholds.summarize, 0.7],
    ['[U5] summaries of 100 characters', thresholds.assistantSummaryChars, 100],
    ['[U4] consent over 1,000 characters', thresholds.userMessageChars, 1_000],
    ['[U4] summaries of 200 characters for the user', thresholds.userSummaryChars, 200],
    ['[U10] 70 % of the window', thresholds.windowShare, 0.7],
  ])('match the requirements: %s', (_, got, wanted) => {
    expect(got).toBe(wanted);
  });

  it.each([
    'maxCycles',
    'maxModelCalls',
    'maxTokens',
    'maxContinuations',
    'maxMessages',
    'totalMs',
    'phaseMs',
    'capabilityMs',
    'consentMs',
  ])('rejects a %s that is zero, negative, or not finite by name', (name) => {
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(named(limitsSchema, { [name]: value })).toBe(name);
  });

  it.each(['maxCorrections', 'maxTransportRetries', 'maxPhaseRetries'])(
    '[A4] rejects a negative %s by name and accepts zero',
    (name) => {
      expect(named(limitsSchema, { [name]: -1 })).toBe(name);
      expect(limitsSchema.safeParse({ [name]: 0 }).success).toBe(true);
    },
  );

  it('[C8] rejects a timeout above the timer limit by name', () => {
    expect(named(limitsSchema, { phaseMs: 2 ** 31 })).toBe('phaseMs');
    expect(limitsSchema.safeParse({ phaseMs: 2 ** 31 - 1 }).success).toBe(true);
  });

  it('[E9] accepts a synthesis reserve of zero and rejects a negative one', () => {
    expect(limitsSchema.parse({ synthesisReserveTokens: 0 }).synthesisReserveTokens).toBe(0);
    expect(named(limitsSchema, { synthesisReserveTokens: -1 })).toBe('synthesisReserveTokens');
  });

  it.each(Object.keys(thresholdsSchema.shape))('rejects a negative %s by name', (name) => {
    expect(named(thresholdsSchema, { [name]: -1 })).toBe(name);
    expect(named(thresholdsSchema, { [name]: Number.NaN })).toBe(name);
  });

  it('[U11] rejects a half-life of zero cycles by name', () => {
    expect(named(thresholdsSchema, { halfLifeCycles: 0 })).toBe('halfLifeCycles');
  });

  it('rejects a misspelled limit or threshold instead of ignoring it', () => {
    expect(limitsSchema.safeParse({ maxCycle: 3 }).error?.message).toContain('maxCycle');
    expect(thresholdsSchema.safeParse({ confidense: 0.5 }).error?.message).toContain('confidense');
  });
});
