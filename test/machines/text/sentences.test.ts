import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../../machines/text/sentences.ts';

const texts = (text: string) => sentencesOf(text).map((sentence) => sentence.text);

describe('sentences', () => {
  it('end at periods, question marks, and line breaks', () => {
    expect(texts('One. Is it two? Yes!\nA line')).toEqual(['One.', 'Is it two?', 'Yes!', 'A line']);
  });

  it('do not end after abbreviations or initials, or within file names', () => {
    expect(texts('Dr. Smith met J. Doe. He left.')).toEqual(['Dr. Smith met J. Doe.', 'He left.']);
    expect(texts('See e.g. the chart. It is in x.machine.ts today.')).toHaveLength(2);
    expect(texts('They live in the U.S. Virgin Islands.')).toHaveLength(1);
  });

  it('stay whole across the segmentation windows of a long text', () => {
    const sentence = `It goes ${'on and '.repeat(60)}on.`;
    const long = Array.from({ length: 40 }, () => sentence).join(' ');
    expect(new Set(texts(long))).toEqual(new Set([sentence]));
  });

  it('are located in order and cover the whole text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const sentences = sentencesOf(text);
        for (const { start, end, text: sentence } of sentences) expect(text.slice(start, end)).toBe(sentence);
        for (const [at, { start }] of sentences.entries())
          expect(start).toBeGreaterThanOrEqual(sentences[at - 1]?.end ?? 0);
        expect(
          sentences
            .map((sentence) => sentence.text)
            .join('')
            .replace(/\s/g, ''),
        ).toBe(text.replace(/\s/g, ''));
      }),
    );
  });
});
