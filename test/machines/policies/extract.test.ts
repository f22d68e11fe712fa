import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractSummary } from '../../../machines/text/summary.ts';
import { prose } from '../../support/arbitraries.ts';

const sentence = fc
  .array(fc.constantFrom('bridge', 'opened', 'harbour', 'fog', 'steel', 'king'), { minLength: 1, maxLength: 8 })
  .map((words) => `The ${words.join(' ')}.`);
const texts = fc.array(sentence, { minLength: 1, maxLength: 12 });
const size = fc.integer({ min: 1, max: 200 });

describe('an extract', () => {
  it('[U5] never exceeds the maximum length', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts.map((all) => all.join(' ')),
          fc.string({ unit: 'grapheme', maxLength: 400 }),
        ),
        size,
        prose,
        (text, max, topic) => extractSummary(text, max, topic).length <= max,
      ),
    );
  });

  it('[U5] consists of whole, verbatim sentences in their original order if one fits', () => {
    fc.assert(
      fc.property(texts, prose, (all, topic) => {
        const max = Math.max(...all.map(({ length }) => length));
        let rest = all.join(' ');
        for (const part of extractSummary(rest, max, topic).match(/[^.]+\./gu) ?? []) {
          expect(rest).toContain(part.trim());
          rest = rest.slice(rest.indexOf(part.trim()) + part.trim().length);
        }
      }),
    );
  });

  it('[U5] prefers sentences about the topic to earlier ones', () => {
    const text =
      'The weather was fine that day. People came from far. The bridge was opened by the queen. Then they left.';
    expect(extractSummary(text, 40, 'Who opened the bridge?')).toBe('The bridge was opened by the queen.');
  });

  it('[U5] is the whole text if that fits, and its beginning if no sentence fits', () => {
    expect(extractSummary('Short.', 40, 'x')).toBe('Short.');
    expect(extractSummary('one two three four five six seven', 15, 'x')).toBe('one two three…');
  });
});
