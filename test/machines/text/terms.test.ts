import { describe, expect, it } from 'vitest';
import { requestTerms, stemsOf, termWeights } from '../../../machines/text/terms.ts';

describe('terms', () => {
  it('stems words, folds accents, and drops stop words', () => {
    expect(stemsOf('The guards were deciding in Göttingen')).toEqual(stemsOf('guard decides gottingen'));
  });

  it('returns the parts of a camelCase name along with the whole', () => {
    expect(stemsOf('maxContinuations')).toEqual(expect.arrayContaining(stemsOf('max continuations')));
  });

  it.each([
    ['a minus sign', '-5 −5 minus 5', ['-5', '-5', 'minu', '-5']],
    ['a dash that is not a sign', 'pages 3-5, 10-day', ['page', '3', '5', '10', 'dai']],
    ['signs after a word', 'C C++ C# A+ A− Cl−', ['c', 'c++', 'c#', 'a+', 'a-', 'cl-']],
    ['signs that may be left out', '<5 ≤ 5 @user 18+', ['5', '<5', '5', '≤5', 'user', '@user', '18', '18+']],
    ['signs between words', 'R & D 24/7 X-100', ['r', 'r&d', 'd', '24', '24/7', '7', 'x', 'x-100', '100']],
    ['signs that are words', '5 % 5% €5 5 EUR', ['5', 'percent', '5', 'percent', 'euro', '5', '5', 'euro']],
    ['powers and notes', 'm² m^2 10² 10^2 euros¹', ['m2', 'm2', '10^2', '10^2', 'euro']],
    ['units', '5kg 3.5 GB 2nd 10a', ['5', 'kg', '3.5', 'gb', '2nd', '10a']],
    ['a name of one letter', 'Grade A costs a coin', ['grade', 'a', 'cost', 'coin']],
  ])('keeps %s', (_, text, stems) => {
    expect(stemsOf(text)).toEqual(stems);
  });

  it('keeps numbers whole and removes thousands separators', () => {
    expect(stemsOf('above 0.9 of 10,000')).toEqual(['0.9', '10000']);
  });

  it('matches scripts without spaces by character pairs', () => {
    expect(stemsOf('東京都庁')).toEqual(['東京', '京都', '都庁']);
  });

  it('drops opening question words from a request, but not elsewhere', () => {
    expect(requestTerms('Please explain the guards').map(({ surface }) => surface)).toEqual(['guards']);
    expect(requestTerms('What does the list explain?').map(({ surface }) => surface)).toEqual(['list', 'explain']);
    expect(requestTerms('Please explain').map(({ surface }) => surface)).toEqual(['Please', 'explain']);
  });

  it('bounds the number of terms in a huge request', () => {
    const huge = Array.from({ length: 50_000 }, (_, at) => `word${at}`).join(' ');
    expect(requestTerms(huge)).toHaveLength(64);
  });
});

it('term weights are higher for terms in fewer texts, highest for terms in none, and lower for general words', () => {
  const weight = termWeights(100, (stem) => ({ rare: 1, common: 90 })[stem] ?? 0);
  expect(weight('unknown')).toBeGreaterThan(weight('rare'));
  expect(weight('rare')).toBeGreaterThan(weight('common'));
  expect(weight('handl')).toBeLessThan(weight('unknown') / 2);
  expect(weight('common')).toBeGreaterThan(0);
});
