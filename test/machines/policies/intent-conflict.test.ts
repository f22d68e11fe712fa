import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conflictsIn } from '../../../machines/heuristics/intent-conflict.ts';

const things = ['prices', 'dates', 'the author', 'any diagrams', 'code samples', 'footnotes'] as const;
const thing = fc.constantFrom(...things);
const include = fc.constantFrom('Include', 'Please mention', 'You must list', 'Always give');
const exclude = fc.constantFrom('Do not include', "Don't mention", 'Never show', 'Leave out', 'Omit', 'Avoid');
const bare = (name: string) => name.replace(/^(?:the|any) /, '');

describe('conflicts in an intent', () => {
  it('[C6] finds an item that is both requested and excluded, in either order and any wording', () => {
    fc.assert(
      fc.property(thing, include, exclude, fc.boolean(), (name, wants, bars, wantsFirst) => {
        const [first, second] = wantsFirst ? [wants, bars] : [bars, wants];
        const found = conflictsIn(`Describe the museum. ${first} ${name}. ${second} ${name}.`);
        expect(found).toEqual([`"${bare(name)}" is both requested and excluded`]);
      }),
    );
  });

  it('[C6] finds none when the requested and excluded items differ', () => {
    const two = fc.uniqueArray(thing, { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(two, include, exclude, ([one, other], wants, bars) => {
        expect(conflictsIn(`Describe the museum. ${wants} ${one}. ${bars} ${other}.`)).toEqual([]);
        expect(conflictsIn(`${wants} ${one}. ${wants} ${other}. ${wants} ${one}.`)).toEqual([]);
      }),
    );
  });

  it.each([
    ['List the hotels, include prices and ratings, without prices.', 'prices'],
    ['Can you list the planets, include their moons, and leave out their moons?', 'moons'],
    ['use tables; avoid tables', 'tables'],
    ['Mention the dates. Don’t mention the dates.', 'dates'],
    ['Include “the sun”. Do not include “the sun”.', 'the sun'],
  ])('[C6] reads lists, single sentences, polite questions, and quoted words: %s', (request, name) => {
    expect(conflictsIn(request)).toEqual([`"${name}" is both requested and excluded`]);
  });

  it.each([
    'Should I include prices or not include prices?',
    'Which hotels include breakfast and which do not include breakfast?',
    'Compare phones with a headphone jack and phones without a headphone jack.',
    'Include prices for hotels. Do not include prices for restaurants.',
    'In the table include prices. In the text, do not include prices.',
    'Version A: include prices. Version B: do not include prices.',
    'Include prices if they are known, otherwise do not include prices.',
    'Include prices. Do not include prices, unless they are in euros.',
    'Include prices. Do not include prices (unless they are in euros).',
    'Include prices. Actually, do not include prices.',
    'Include prices or do not include prices, as you like.',
    'Translate "include prices, do not include prices" into French.',
    'Include the word "sun". Do not include the word "moon".',
    'What does ‘a short, detailed answer’ mean?',
    'What is the difference between short and long positions?',
    'Is it hot or cold?',
    'Is a short, detailed answer possible?',
    'Why do a formal and an informal text differ?',
    'Give a short answer and a long answer.',
    'Give a short but detailed answer.',
    'Tell me a story about a short, long-haired cat.',
    'Write a title in one sentence and a body of at least three paragraphs.',
    'Write at least three paragraphs of at most two sentences.',
    'Sum it up in one sentence, then go through it in at least three paragraphs.',
    'Answer in one sentence or in three paragraphs.',
    'Use at least two paragraphs and no more than 500 words.',
    'Answer in at least three words and at most one paragraph.',
    'Tell the stories, each in one sentence, with at least three paragraphs.',
    'Sum it up in one sentence with at least three paragraphs of background.',
    'Briefly describe the plot and explain the ending in detail.',
    'If the letter is in French, answer in French only, otherwise answer in English.',
    'Answer in English and translate the quotations in French only.',
    'Answer in English. Reply in English only.',
    'Answer in English. Reply in French.',
  ])('[C6] finds none when opposites are only mentioned or apply to different parts or cases: %s', (request) => {
    expect(conflictsIn(request)).toEqual([]);
  });

  it.each([
    ['Write a short, detailed answer about bees.', ['"short" and "detailed"']],
    ['Give me a detailed and brief summary.', ['"detailed" and "brief"']],
    ['Write it in a formal, casual tone.', ['"formal" and "casual"']],
    ['Briefly explain the revolution in great detail.', ['"briefly" and "in detail"']],
    ['Answer in English. Reply in French only.', ['"answer in english" and "reply in french only"']],
    [
      'Answer in one sentence and use at least three paragraphs.',
      ['"in one sentence" and "at least three paragraphs" exclude each other'],
    ],
    [
      'Describe the Alps in at most 50 words and at least two pages.',
      ['"at most 50 words" and "at least two pages" exclude each other'],
    ],
  ])('[C6] finds opposing constraints on the answer itself: %s', (request, conflicts) => {
    expect(conflictsIn(request)).toEqual(conflicts);
  });

  it('[C6] finds two bounds of one unit in conflict exactly when no number satisfies both', () => {
    const count = fc.integer({ min: 2, max: 400 });
    const unit = fc.constantFrom('words', 'sentences', 'paragraphs', 'pages');
    const kinds = [
      ['at least', (bound: number, value: number) => value >= bound],
      ['more than', (bound: number, value: number) => value > bound],
      ['at most', (bound: number, value: number) => value <= bound],
      ['fewer than', (bound: number, value: number) => value < bound],
      ['exactly', (bound: number, value: number) => value === bound],
    ] as const;
    const kind = fc.constantFrom(...kinds);
    const near = fc.oneof(
      fc.tuple(count, count),
      count.map((n) => [n, n + 1]),
      count.map((n) => [n, n]),
    );
    fc.assert(
      fc.property(near, unit, kind, kind, ([a = 2, b = 2], name, [one, holdsOne], [other, holdsOther]) => {
        const possible = Array.from({ length: 403 }, (_, value) => value).some(
          (value) => holdsOne(a, value) && holdsOther(b, value),
        );
        const found = conflictsIn(`Answer with ${one} ${a} ${name} and ${other} ${b} ${name}.`);
        expect(found).toHaveLength(possible ? 0 : 1);
      }),
    );
  });

  it('[C6] reports every conflict of a request once', () => {
    const twice = 'Include prices. Do not include prices. Include prices. Give a short, detailed answer.';
    expect(conflictsIn(twice)).toEqual(['"prices" is both requested and excluded', '"short" and "detailed"']);
  });

  it('[C6] ignores code and quoted lines', () => {
    const contradiction = 'Include prices. Do not include prices.';
    expect(conflictsIn(`Look at this:\n> Be kind, include prices, without prices.\nMake it shorter.`)).toEqual([]);
    expect(conflictsIn(`Run this.\n\`\`\`\n${contradiction}\n\`\`\``)).toEqual([]);
  });

  it('[C6] reads only the first and last paragraph of a long request, and nothing after 20,000 characters', () => {
    const filler = 'The river rose in spring and fell again in summer.\n\n'.repeat(60);
    const contradiction = 'Include prices. Do not include prices.';
    expect(conflictsIn(`${contradiction}\n\n${filler}`)).toHaveLength(1);
    expect(conflictsIn(`${filler}${contradiction}`)).toHaveLength(1);
    expect(conflictsIn(`${filler}${contradiction}\n\n${filler}`)).toEqual([]);
    expect(conflictsIn(`${filler.repeat(10)}${contradiction}`)).toEqual([]);
    expect(conflictsIn(`${'a '.repeat(5_000_000)}${contradiction}`)).toEqual([]);
  });

  it('[C6] treats distant statements as being about different parts', () => {
    const between = ' The river rose in spring and fell again in summer.'.repeat(12);
    expect(conflictsIn(`Include prices.${between} Do not include prices.`)).toEqual([]);
    expect(conflictsIn(`Answer in one sentence.${between} Use at least three paragraphs.`)).toEqual([]);
    expect(conflictsIn(`Answer in English.${between} Reply in French only.`)).toEqual([]);
  });

  it('[C6] describes conflicts in any input and never throws', () => {
    const text = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), include, exclude, thing, fc.constantFrom('. ', '"', '`')),
    );
    fc.assert(
      fc.property(text, (parts) => {
        const found = conflictsIn(parts.join(' '));
        expect(new Set(found).size).toBe(found.length);
        for (const conflict of found) expect(conflict).toMatch(/\p{L}/u);
      }),
    );
  });
});
