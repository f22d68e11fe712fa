import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groundingOf } from '../../../machines/heuristics/grounding.ts';
import type { EvidenceText } from '../../../machines/heuristics/parsed-text.ts';

const texts = (...contents: string[]): EvidenceText[] => contents.map((content, at) => ({ id: `t${at}`, content }));
const BRIDGE = texts(
  'The Helder Bridge was opened on 19 March 1932 by premier Jack Lang. It cost 6.25 million pounds, or £6,250,000.',
  'It was designed by the engineer John Bradfield. Six workers died while Dorman Long built it.',
);
const held = (answer: string, request = 'What do you know of it?', gathered = BRIDGE) =>
  groundingOf(answer, gathered, request);

/** Words with different stems, without general words and stop words. */
const WORDS = 'harbour granite lantern violin meadow copper orchard signal tunnel beacon'.split(' ');
const aText = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));
const someTexts = fc.array(aText, { minLength: 1, maxLength: 5 });

/** Reference implementation: the weights of the distinct answer words that any text contains. */
function supportByHand(answer: string, contents: readonly string[]): number {
  let found = 0;
  let all = 0;
  for (const word of new Set(answer.split(' '))) {
    const holders = contents.filter((content) => content.split(' ').includes(word)).length;
    const weight = Math.log(1 + (contents.length + 10) / (holders + 1));
    all += weight;
    if (holders > 0) found += weight;
  }
  return found / all;
}

describe('grounding', () => {
  it('[Y1] is the share of the answer that any text supports, weighted by word rarity', () => {
    fc.assert(
      fc.property(aText, someTexts, (answer, contents) => {
        const { support, unsupported } = held(answer, '', texts(...contents));
        expect(support).toBeCloseTo(supportByHand(answer, contents), 10);
        const everywhere = new Set(contents.flatMap((content) => content.split(' ')));
        expect(unsupported).toEqual([...new Set(answer.split(' '))].filter((word) => !everywhere.has(word)));
      }),
    );
  });

  it('[Y1] matches every verbatim word sequence of a text and no scattered words', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(WORDS, { minLength: 3 }),
        fc.nat(6),
        fc.integer({ min: 1, max: 5 }),
        (words, from, count) => {
          const first = from % words.length;
          const run = words.slice(first, first + count);
          const gathered = texts(words.join(' '));
          expect(held(run.join(' '), '', gathered)).toEqual({ support: 1, span: true, unsupported: [] });
          expect(held(`${words[0]} ${words[2]}`, '', gathered)).toEqual({ support: 1, span: false, unsupported: [] });
        },
      ),
    );
  });

  it('[Y1] does not depend on the order of the texts or on earlier reads', () => {
    fc.assert(
      fc.property(aText, someTexts, (answer, contents) => {
        const stable = texts(...contents);
        const first = held(answer, '', stable);
        expect(held(answer, '', stable)).toEqual(first);
        const again = held(answer, '', texts(...contents.toReversed()));
        expect(again).toEqual({ ...first, support: again.support });
        expect(again.support).toBeCloseTo(first.support ?? -1, 12);
      }),
    );
  });

  it('[Y1] is between 0 and 1, or null, for any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'grapheme' }), fc.array(fc.string()), (answer, request, contents) => {
        const { support } = groundingOf(answer, texts(...contents), request);
        expect(support === null || (support >= 0 && support <= 1)).toBe(true);
      }),
    );
  });

  it.each([
    ['John Bradfield', 'same case'],
    ['john bradfield', 'different case'],
    ['by John Bradfield', 'leading function words'],
    ['19th March, 1932', 'an ordinal and a comma'],
    ['6,250,000 pounds', 'a number in digits for one in words'],
    ['6.25 million', 'a number in words'],
    ['6 workers', 'a number word for a number in digits'],
  ])('[Y1] finds %s verbatim: %s', (answer) => {
    expect(held(answer)).toEqual({ support: 1, span: true, unsupported: [] });
  });

  it.each([
    ['John Lang', 1, []],
    ['Jack Bradfield Long', 1, []],
    ['1933', 0, ['1933']],
    ['Helen Marsh', 0, ['Helen', 'Marsh']],
  ])('[Y1] does not find %s verbatim', (answer, support, unsupported) => {
    expect(held(answer)).toEqual({ support, span: false, unsupported });
  });

  it('[Y1] distinguishes 25 from 25 million, and 2.5 from 25', () => {
    const gathered = texts('They sold 25 million copies in 2.5 years.');
    expect(held('25', '', gathered).span).toBe(false);
    expect(held('25,000,000', '', gathered).span).toBe(true);
    expect(held('2.5', '', gathered).span).toBe(true);
  });

  it('[Y1] weights a name or number more than another word', () => {
    const gathered = texts('a granite lantern');
    const plain = held('granite violin', '', gathered).support ?? 0;
    expect(held('granite Violin', '', gathered).support).toBeLessThan(plain);
    expect(held('granite 1932', '', gathered).support).toBeLessThan(plain);
  });

  it('[Y1] does not weight the capital that opens a sentence or list general words as missing', () => {
    const gathered = texts('a granite lantern');
    expect(held('Violin, granite', '', gathered).support).toBe(held('violin, granite', '', gathered).support);
    expect(held('several violins', '', gathered).unsupported).toEqual(['violins']);
  });

  it('[Y1] does not accept part of a longer name as the name', () => {
    const gathered = texts('She spoke for the Helen Marsh Institute at the opening.');
    expect(held('Helen Marsh', 'Who spoke?', gathered).span).toBe(false);
    expect(held('Helen Marsh Institute', 'Who spoke?', gathered).span).toBe(true);
    expect(held('Helen Marsh', 'Which institute spoke?', gathered).span).toBe(true);
    expect(held('Helen Marsh', 'In which city?', gathered).span).toBe(true);
    expect(held('Helen Marsh', 'Who spoke?', [...gathered, ...texts('It was Helen Marsh.')]).span).toBe(true);
    expect(held('Helen Marsh', 'Who spoke?', texts('It was opened by Senator Helen Marsh, in May.')).span).toBe(true);
    expect(held('Helen Marsh', 'Who spoke?', texts('It rained. Yesterday Helen Marsh spoke.')).span).toBe(true);
    expect(held('Marsh', 'Who spoke?', texts('The speech of Helen Marsh was short.')).span).toBe(true);
  });

  it('[Y1] rates a sentence by the words that the request does not contain', () => {
    const request = 'Who designed the Helder Bridge?';
    expect(held('The Helder Bridge was designed by John Bradfield.', request)).toEqual({
      support: 1,
      span: true,
      unsupported: [],
    });
    expect(held('The Helder Bridge was designed by Ada Stone.', request)).toEqual({
      support: 0,
      span: false,
      unsupported: ['Ada', 'Stone'],
    });
  });

  it('[Y1] counts a hyphenated word once when it distinguishes a name from a sentence', () => {
    const request = 'Which arch did they use?';
    const gathered = texts('They used a hinge. The arch was a three-hinged through-deck steel-and-copper one.');
    expect(held('a three-hinged through-deck steel-and-copper arch', request, gathered).span).toBe(false);
  });

  it('[Y1] partially matches a paraphrase by its stems', () => {
    const { support, span, unsupported } = held('An engineer was designing it; the workers were dying of silicosis.');
    expect(support).toBeGreaterThan(0.4);
    expect(support).toBeLessThan(1);
    expect(span).toBe(false);
    expect(unsupported).toEqual(['dying', 'silicosis']);
  });

  it.each([
    ['Yes', BRIDGE],
    ['No.', BRIDGE],
    ['', BRIDGE],
    ['it is', BRIDGE],
    ['John Bradfield', []],
    ['John Bradfield', texts('', ' … ')],
  ])('is null when there is nothing to check: %s', (answer, gathered) => {
    expect(held(answer, 'Was it?', gathered)).toEqual({ support: null, span: false, unsupported: [] });
  });

  it('reads a bounded part of each text', () => {
    const gathered = texts(`${'meadow '.repeat(1_500_000)}lantern`, `violin ${'('.repeat(10_000_000)}`);
    expect(held('meadow', '', gathered).span).toBe(true);
    expect(held('violin', '', gathered).span).toBe(true);
    expect(held('lantern', '', gathered).span).toBe(false);
    expect(held('meadow '.repeat(1_500_000), 'or '.repeat(3_000_000), gathered).support).toBe(1);
  });
});
