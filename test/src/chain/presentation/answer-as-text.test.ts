import { describe, expect, it } from 'vitest';
import { answerAsText } from '../../../../src/chain/presentation/answer-as-text.ts';
import { aDegradedAnswer, aFinalAnswer } from '../../../support/contract-samples.ts';
import { startScripted } from '../../../support/run-chain.ts';

const long = 'word '.repeat(10).trim();
const linesOf = (text: string): readonly string[] => text.split('\n');

describe('the final answer as text', () => {
  it('[E10] [Y10] is built from the answer data: text, confidence, sources with lines, notes', async () => {
    const answer = await startScripted().run.answer;
    const place = { path: 'docs/a.md', messageId: 'm', quote: '' };
    const given = {
      ...answer,
      notes: 'Be careful.',
      sources: [
        { ...place, startLine: 3, endLine: 9 },
        { ...place, startLine: 12, endLine: 12 },
      ],
    };
    expect(answerAsText(given)).toBe(
      'Answer (confidence 0.95 · completed · 1 cycle · 7 model calls)\n\nIt is so, for certain.\n\nSources\n  docs/a.md:3-9\n  docs/a.md:12\n\nNotes\n  Be careful.\n',
    );
  });

  it('[E5] [Y10] states the degradation before the text (reason, explanation, missing fields) without repeating it in the notes', () => {
    expect(answerAsText(aDegradedAnswer())).toBe(
      'Answer (confidence 0.40 · degraded · 1 cycle · 7 model calls · cost 0.01 EUR)\n\nDegraded (cycle limit reached): The limit of 1 cycle was reached. No result from: experience, answer.\n\nPerhaps in 1932.\n\nSources\n  bridges.md:3-5\n\nNotes\n  The day is unsure.\n',
    );
  });

  it('does not repeat what the answer itself says', () => {
    const answer = aDegradedAnswer({
      answerText: 'No answer was reached. The limit of 1 cycle was reached.',
      sources: [],
    });
    const text = answerAsText({ ...answer, notes: 'The limit of 1 cycle was reached.' });
    expect(text.match(/The limit/g)).toHaveLength(1);
    expect(text).toContain(
      'Degraded (cycle limit reached). No result from: experience, answer.\n\nNo answer was reached.',
    );
    expect(text).not.toContain('Notes');
  });

  it.each([
    [null, ''],
    [{ amount: 0, currency: 'EUR' }, ' · cost 0.00 EUR'],
    [{ amount: 0.0012345678, currency: 'EUR' }, ' · cost 0.001235 EUR'],
    [{ amount: 1234.5678, currency: 'US\u001b D' }, ' · cost 1,234.57 US D'],
  ])('prints a known cost of %j', (cost, told) => {
    const { metadata } = aFinalAnswer();
    expect(
      linesOf(
        answerAsText(
          aFinalAnswer({ metadata: { ...metadata, cost: cost && { byTask: {}, savedByCache: 0, ...cost } } }),
        ),
      )[0],
    ).toBe(`Answer (confidence 0.95 · completed · 1 cycle · 7 model calls${told})`);
  });

  it('wraps between words and leaves tables, code, and lines of 20,000 characters unchanged', () => {
    const huge = `${'a'.repeat(20_000)} b`;
    const answerText = `${long}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`\n${huge}`;
    const lines = linesOf(answerAsText(aFinalAnswer({ answerText }), { columns: 25 }));
    expect(lines).toEqual(expect.arrayContaining(['word word word word word', `| ${long} |`, long, huge]));
  });

  it('keeps the indent of a wrapped line, and indents notes', () => {
    const answer = aFinalAnswer({ answerText: `  - ${long}`, notes: `Note: ${long}` });
    const lines = linesOf(answerAsText(answer, { columns: 30 }));
    expect(lines).toEqual(
      expect.arrayContaining([
        '  - word word word word word',
        '  word word word word word',
        '  Note: word word word word',
      ]),
    );
    expect(lines.every((line) => line.length <= 30)).toBe(true);
  });

  it.each([0, 1, -5, Number.NaN, Infinity])('accepts a width of %j columns', (columns) => {
    const lines = linesOf(answerAsText(aFinalAnswer({ answerText: long }), { columns }));
    const isWhole = !Number.isFinite(columns);
    expect(lines.includes(isWhole ? long : 'word word word word')).toBe(true);
  });

  it('contains only the given style codes', () => {
    const style = { heading: (text: string) => `*${text}*`, warning: (text: string) => `!${text}!` };
    const text = answerAsText(aDegradedAnswer(), { style });
    for (const marked of ['*Answer* (confidence', '*Sources*\n', '*Notes*\n', '!Degraded (cycle limit reached)!: The'])
      expect(text).toContain(marked);
  });
});
