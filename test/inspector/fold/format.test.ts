import { describe, expect, it } from 'vitest';
import {
  formatDelay,
  formatDuration,
  formatTime,
  formatTokens,
  pluralize,
  tokenTotal,
} from '../../../inspector/fold/format.ts';

describe('a duration', () => {
  it.each([
    [0.04, '0 ms'],
    [1.26, '1.3 ms'],
    [840.4, '840 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [12_400, '12.4 s'],
    [59_949, '59.9 s'],
    [59_980, '1 min'],
    [185_000, '3 min 5 s'],
    [3_600_000, '1 h'],
    [10_865_000, '3 h 1 min'],
  ])('of %d ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [0.04, '0.0 ms'],
    [999.94, '999.9 ms'],
    [999.96, '1.000 s'],
    [61_500, '61.500 s'],
  ])('of %d ms is %s in precise form', (ms, text) => expect(formatTime(ms)).toBe(text));
});

describe('a count', () => {
  it.each([
    [0, '0 tokens'],
    [1, '1 token'],
    [2_300, '2,300 tokens'],
  ])('of %d is formatted as %s', (number, text) => expect(pluralize(number, 'token')).toBe(text));
});

describe('the tokens of a call or of several', () => {
  const used = { inputTokens: 2_300, outputTokens: 40, estimated: false };

  it.each([
    [used, '2,300 tokens in, 40 out'],
    [
      { ...used, cachedInputTokens: 2_000, reasoningTokens: 30 },
      '2,300 tokens in (2,000 cached), 40 out (30 reasoning)',
    ],
    [
      { ...used, cachedInputTokens: 2_000, cacheWriteTokens: 300 },
      '2,300 tokens in (2,000 cached, 300 written to the cache), 40 out',
    ],
    [{ ...used, cachedInputTokens: 0, reasoningTokens: 0 }, '2,300 tokens in (0 cached), 40 out (0 reasoning)'],
    [{ ...used, estimated: true }, '2,300 tokens in, 40 out, estimated'],
  ])('are formatted with what the provider reports: %j', (usage, text) => expect(formatTokens(usage)).toBe(text));

  it('are marked as estimated in the total if the provider does not report them', () => {
    expect(tokenTotal(used)).toBe('2,340 tokens (2,300 in, 40 out)');
    expect(tokenTotal({ inputTokens: 744, outputTokens: 0, estimated: true })).toBe(
      '744 estimated prompt tokens, no reply',
    );
  });
});

it('gives delays of a minute or more in minutes', () => {
  expect(['500', '30000', '60000', '120000', '180000'].map(formatDelay).join()).toBe('500 ms,30 s,1 min,2 min,3 min');
});
