import { describe, expect, it } from 'vitest';
import { comparedValues } from '../../../inspector/fold/explain.ts';
import { comparedText, limitWords, valueTitle } from '../../../inspector/fold/guard-words.ts';

const confidence = { confidence: 0.5, above: 0.9, modelConfidence: 0.96, grounding: 0 };

describe('the numbers of a guard in words', () => {
  it('show what the guard needed', () => {
    const [first] = comparedValues(confidence);
    expect(first && limitWords(first)).toBe('needs more than 0.9');
  });

  it('show objects and arrays that a guard of any machine compares', () => {
    const [value] = comparedValues({ order: { cents: 900 } } as never);
    expect(value && comparedText(value)).toBe('{"cents": 900}');
  });

  it('count the next cycle among those that repeat each other, as the rule does', () => {
    const [repeats] = comparedValues({ repeats: 1, loopRepeats: 2 });
    expect(repeats && [valueTitle(repeats.name), comparedText(repeats), limitWords(repeats)]).toEqual([
      'similar cycles, including the next one',
      '2',
      'limit 2',
    ]);
  });
});
