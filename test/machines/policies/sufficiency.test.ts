import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SUFFICIENCY_WEIGHTS, sufficiencyOf } from '../../../machines/heuristics/sufficiency.ts';
import { isGeneral, requestTerms, stemsOf } from '../../../machines/text/terms.ts';
import { someThresholds } from '../../support/contract-samples.ts';

const gather = (contents: readonly string[]) => contents.map((content, at) => ({ id: `m${at}`, content }));
const sufficiency = (request: string, ...contents: readonly string[]) => sufficiencyOf(request, gather(contents));
const enough = (...given: Parameters<typeof sufficiency>) =>
  sufficiency(...given).score >= someThresholds().sufficiency;

const ANTHEM = 'Who wrote the anthem of the country where Oslo lies?';
const OSLO = 'Oslo\nOslo is the capital of Norway.';
const NORWEGIAN = 'Ja, vi elsker\nThe national anthem of Norway was written by a poet from Kvikne.';
const DANISH = 'Lovely Land\nThe national anthem of Denmark was written by a poet from Copenhagen.';

const word = fc.constantFrom(
  'Oslo',
  'Bergen',
  'Norway',
  'the',
  'of',
  'where',
  'lies',
  'ferry',
  'opened',
  'in',
  '1932',
  '.',
  '\n',
);
const prose = fc.oneof(
  fc.string(),
  fc.array(word, { maxLength: 20 }).map((words) => words.join(' ')),
);
const texts = fc.array(prose, { maxLength: 6 });

describe('information sufficiency', () => {
  it('[Y3] is 0 when nothing relevant was retrieved, and lists the missing words', () => {
    expect(sufficiency('When was the ferry opened?')).toMatchObject({ score: 0, missing: ['ferry', 'opened'] });
    expect(sufficiency('When was the ferry opened?', 'Bread is baked.')).toMatchObject({
      score: 0,
      missing: ['ferry', 'opened'],
    });
    expect(sufficiency('', 'Bread is baked.').score).toBe(0);
    expect(sufficiency('How are ferries handled?').missing).toEqual(['ferries']);
  });

  it('[Y3] is sufficient with one passage that covers the whole request, but not part of it', () => {
    expect(enough('What is the capital of Norway?', OSLO)).toBe(true);
    expect(enough('What is the capital of Norway?', 'Norway\nIt has many mountains.')).toBe(false);
  });

  it('[Y3] requires a number other than those of the request when one is expected', () => {
    expect(enough('When was the ferry opened?', 'The ferry was opened in 1932.')).toBe(true);
    expect(enough('When was the ferry opened?', 'The ferry was opened in March.')).toBe(true);
    expect(enough('When was the ferry opened?', 'The ferry was opened by a king.')).toBe(false);
    expect(enough('When was the ferry of 1932 opened?', 'The ferry of 1932 was opened by a king.')).toBe(false);
  });

  it('[Y3] is sufficient with a chain of texts, but not if a step is missing or replaced', () => {
    expect(enough(ANTHEM, OSLO, NORWEGIAN)).toBe(true);
    expect(enough(ANTHEM, OSLO)).toBe(false);
    expect(enough(ANTHEM, NORWEGIAN)).toBe(false);
    expect(enough(ANTHEM, OSLO, DANISH)).toBe(false);
    expect(enough(ANTHEM, NORWEGIAN, DANISH)).toBe(false);
  });

  it('[Y3] is sufficient for a comparison only with a text about each subject', () => {
    const [oslo, bergen] = ['Oslo\n700,000 people live in this city.', 'Bergen\n290,000 people live in this city.'];
    expect(enough('Which city is larger, Oslo or Bergen?', oslo, bergen)).toBe(true);
    expect(enough('Which city is larger, Oslo or Bergen?', oslo, 'Lillehammer\nA small city.')).toBe(false);
  });

  it('[Y3] does not rise for a text retrieved before', () => {
    fc.assert(
      fc.property(prose, texts, (request, contents) => {
        expect(sufficiency(request, ...contents, ...contents)).toEqual(sufficiency(request, ...contents));
      }),
    );
    expect(sufficiency(ANTHEM, OSLO, OSLO)).toEqual(sufficiency(ANTHEM, OSLO));
  });

  it('[Y3] does not depend on the order or ids of the texts', () => {
    const shuffled = texts.chain((contents) =>
      fc.tuple(fc.constant(contents), fc.shuffledSubarray(contents, { minLength: contents.length })),
    );
    fc.assert(
      fc.property(prose, shuffled, (request, [contents, others]) => {
        const renamed = others.map((content, at) => ({ id: `other${at}`, content }));
        expect(sufficiencyOf(request, renamed)).toEqual(sufficiency(request, ...contents));
      }),
    );
  });

  it('[Y3] reads the texts with the most request words first', () => {
    const crowd = Array.from({ length: 60 }, (_, at) => `${['Ferries', 'Kings', 'Old rows', 'Kvikne'][at % 4]} ${at}`);
    expect(enough('Which king rows the old ferry of Kvikne?', ...crowd)).toBe(false);
    expect(enough('Which king rows the old ferry of Kvikne?', ...crowd, 'A king rows the old ferry of Kvikne.')).toBe(
      true,
    );
  });

  it('[Y3] looks in other texts for a word that the best matches lack', () => {
    const crowd = Array.from({ length: 60 }, (_, at) => `Ferry ${at}\nThe ferry was opened.`);
    const request = 'When was the ferry of Kvikne opened?';
    expect(sufficiency(request, ...crowd).missing).toEqual(['Kvikne']);
    const found = sufficiency(request, ...crowd, 'Kvikne\nA village.');
    expect(found).toMatchObject({ missing: [], factors: { names: 1 } });
  });

  it('[Y3] is in 0..1 with every factor, and the higher of the single-passage score and the weighted evidence', () => {
    fc.assert(
      fc.property(prose, texts, (request, contents) => {
        const { score, factors } = sufficiency(request, ...contents);
        for (const value of [score, ...Object.values(factors)]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        const evidence = Object.entries(SUFFICIENCY_WEIGHTS).map(([factor, weight]) => weight * (factors[factor] ?? 0));
        const weighed = 1 / (1 + Math.exp(5.5 - evidence.reduce((sum, one) => sum + one, 0)));
        if (score > 0) expect(score).toBeCloseTo(Math.max(weighed, factors['alone'] ?? 0), 12);
      }),
    );
  });

  it('[Y3] lists at most 8 missing specific words exactly as written in the request', () => {
    fc.assert(
      fc.property(prose, texts, (request, contents) => {
        const there = new Set(contents.flatMap(stemsOf));
        const lacking = requestTerms(request, 30).filter(({ stem }) => !there.has(stem) && !isGeneral(stem));
        expect(sufficiency(request, ...contents).missing).toEqual(lacking.slice(0, 8).map(({ surface }) => surface));
      }),
    );
    expect(sufficiency('ships boats ferries canoes rafts barges tugs yachts dinghies').missing).toHaveLength(8);
  });

  it.each([
    ['one word', 'a'.repeat(10_000_000)],
    ['one name', 'Oslo '.repeat(2_000_000)],
    ['open brackets', `${'('.repeat(100)}\n${'('.repeat(10_000_000)}`],
    ['full stops', `Oslo ${'. '.repeat(5_000_000)} lies`],
    ['open quotes', '"Oslo '.repeat(1_500_000)],
    ['descriptions', 'the town of '.repeat(800_000)],
  ])('[Y3] handles ten million characters of %s as a text and as a request', (_, hostile) => {
    expect(sufficiency(ANTHEM, hostile, OSLO).score).toBeLessThan(0.7);
    expect(sufficiency(hostile, OSLO, hostile).score).toBeLessThanOrEqual(1);
  });
});
