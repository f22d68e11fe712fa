import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { preview, summarize } from '../../../machines/text/summary.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc
    .array(fc.constantFrom('😀', '🌉', 'a', 'bc', '. ', '! ', ' ', '\n'), { maxLength: 200 })
    .map((all) => all.join('')),
);
const size = fc.integer({ min: 1, max: 220 });
const flat = (given: string) => given.replace(/\s+/gu, ' ').trim();
const isWhole = (given: string) => !/\p{Cs}/u.test(given);

describe('a summary', () => {
  it('[U4] [U5] is a prefix within the maximum length, not empty, and splits no surrogate pair', () => {
    fc.assert(
      fc.property(text, size, (given, max) => {
        const short = summarize(given, max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(flat(given).startsWith(short.replace(/…$/u, ''))).toBe(true);
        expect(short === '').toBe(flat(given) === '');
        expect(isWhole(short)).toBe(isWhole(given));
      }),
    );
  });

  it('[U4] [U5] is the whole text if that fits', () => {
    fc.assert(fc.property(text, (given) => summarize(given, Math.max(1, given.length)) === flat(given)));
  });

  it('[U4] [U5] ends after a sentence if one fits, otherwise after a word, otherwise anywhere', () => {
    expect(summarize('One sentence. Another that is longer.', 20)).toBe('One sentence.');
    expect(summarize('Words without any end to them', 20)).toBe('Words without any…');
    expect(summarize('x'.repeat(30), 20)).toBe(`${'x'.repeat(19)}…`);
    expect(summarize('Is it? Yes, it is so and so', 10)).toBe('Is it?');
  });
});

describe('a preview', () => {
  it('[U8] shows the first 50 characters on one line and marks the omission', () => {
    expect(preview('x'.repeat(50))).toBe('x'.repeat(50));
    expect(preview('x'.repeat(51))).toBe(`${'x'.repeat(50)}…`);
    expect(preview('two\n\nlines')).toBe('two lines');
  });

  it('[U8] never splits a surrogate pair or exceeds the maximum length', () => {
    fc.assert(
      fc.property(text, size, (given, chars) => {
        expect(isWhole(preview(given, chars))).toBe(isWhole(given));
        expect(preview(given, chars).length).toBeLessThanOrEqual(chars + 1);
      }),
    );
  });
});
