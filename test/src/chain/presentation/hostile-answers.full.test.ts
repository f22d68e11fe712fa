import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FinalAnswer } from '../../../../machines/contracts/synthesis.ts';
import { answerAsMarkdown } from '../../../../src/chain/presentation/answer-as-markdown.ts';
import { answerAsJson, answerAsText } from '../../../../src/chain/presentation/answer-as-text.ts';
import { oneLine, printable } from '../../../../src/internal/printable.ts';
import { aDegradedAnswer } from '../../../support/contract-samples.ts';
import { hostileAnswerArbitrary } from '../../../support/hostile-input.ts';
import { readPage } from '../../../support/markdown-page.ts';
import { sampleSize } from '../../../support/soak.ts';

/** Forbidden in every rendering, by Unicode categories: control characters except line breaks and tabs, and bidirectional marks. */
const NOT_PRINTABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/u;

/** Paths keep their spaces, while HTML collapses them. */
const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim();

const placeOf = ({ path, startLine, endLine = 0 }: FinalAnswer['sources'][number]): string => {
  if (startLine === undefined) return squeezed(printable(path));
  return squeezed(`${printable(path)}:${endLine > startLine ? `${startLine}-${endLine}` : startLine}`);
};

function expectPage(markdown: string, { notes, sources }: FinalAnswer): void {
  const page = readPage(markdown);
  const notesMayBeLeftOut = page.sections.includes('Notes') ? ['Notes'] : [];
  expect(page.sections).toEqual(['Answer', ...(sources.length > 0 ? ['Sources'] : []), ...notesMayBeLeftOut]);
  expect(page.sources.map(({ place, quote }) => ({ place: squeezed(place), quote }))).toEqual(
    sources.map((source) => ({ place: placeOf(source), quote: oneLine(source.quote) })),
  );
  if (notesMayBeLeftOut.length > 0) expect(oneLine(notes)).toContain(page.last);
  expect(page.html).toEqual([]);
  expect(markdown).not.toMatch(NOT_PRINTABLE);
}

describe('any text from a model, a document, or a server', () => {
  it('[E10] [Y10] is contained in Markdown: our sections, every source with its quote, and no HTML', () => {
    fc.assert(
      fc.property(hostileAnswerArbitrary, (answer) => expectPage(answerAsMarkdown(answer), answer)),
      { numRuns: sampleSize('hostile answers', 40, 1000) },
    );
  });

  it('[E10] [Y10] is contained in text: no control characters, confidence first, each source on its own line', () => {
    fc.assert(
      fc.property(hostileAnswerArbitrary, fc.option(fc.integer({ min: 20, max: 200 })), (answer, columns) => {
        const text = answerAsText(answer, columns === null ? {} : { columns });
        expect(text).not.toMatch(NOT_PRINTABLE);
        expect(text.startsWith('Answer (')).toBe(true);
        expect(squeezed(text)).toContain(`(confidence ${answer.confidence.toFixed(2)} ·`);
        const lines = text.split('\n').map(squeezed);
        expect(lines).toEqual(expect.arrayContaining(answer.sources.map((source) => placeOf(source))));
      }),
      { numRuns: sampleSize('hostile answers as text', 40, 1000) },
    );
  });

  it('[E10] [Y10] is preserved in JSON', () => {
    fc.assert(
      fc.property(hostileAnswerArbitrary, fc.boolean(), (answer, pretty) => {
        const json = answerAsJson(answer, { pretty });
        expect(JSON.parse(json)).toEqual(answer);
        expect(json).not.toMatch(NOT_PRINTABLE);
      }),
    );
  });

  it.each([
    'word ',
    'a',
    '`',
    '- ',
    '> ',
    '>',
    '#',
    '## Sources\n',
    '<!--',
    '<b>',
    '[a](b)',
    '**x',
    '&amp;',
    '\u001b[31m',
  ])('is handled in the same way for 100 kB of %j', (piece) => {
    const text = piece.repeat(Math.ceil(100_001 / piece.length));
    const answer = aDegradedAnswer({ answerText: text });
    expectPage(answerAsMarkdown(answer), answer);
    expect(answerAsText(answer, { columns: 80 })).not.toMatch(NOT_PRINTABLE);
    const place = { path: text, startLine: 1, endLine: 2, messageId: text, quote: text };
    const everywhere = aDegradedAnswer({ answerText: text, notes: text, sources: [place] });
    expect(answerAsMarkdown(everywhere)).not.toMatch(NOT_PRINTABLE);
    expect(JSON.parse(answerAsJson(everywhere))).toEqual(everywhere);
  });
});
