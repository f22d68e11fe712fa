import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { answerText } from '../../../src/cli/answer-text.ts';
import { count, cutEnd, cutStart, oneLine, printable } from '../../../src/cli/printable.ts';
import { startScripted } from '../../support/run-chain.ts';

describe('the answer for people', () => {
  it('[E10][Y10] is made from the answer’s data: text, confidence, sources by line, notes', async () => {
    const answer = await startScripted().run.answer;
    const place = { path: 'docs/a.md', messageId: 'm', quote: '' };
    const page = { colors: pc.createColors(false), columns: Infinity };
    const given = {
      ...answer,
      notes: 'Be careful.',
      sources: [
        { ...place, startLine: 3, endLine: 9 },
        { ...place, startLine: 12, endLine: 12 },
      ],
    };
    expect(answerText(given, page)).toBe(
      'Answer (confidence 0.95 · completed · 1 cycle · 7 model calls)\n\nIt is so, for certain.\n\nSources\n  docs/a.md:3-9\n  docs/a.md:12\n\nNotes\n  Be careful.\n',
    );
  });

  it('breaks long lines between words on a terminal, and leaves tables and code as they are', async () => {
    const answer = await startScripted().run.answer;
    const long = 'word '.repeat(10).trim();
    const given = { ...answer, answerText: `${long}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`` };
    const lines = answerText(given, { colors: pc.createColors(false), columns: 25 }).split('\n');
    expect(lines).toEqual(expect.arrayContaining(['word word word word word ', `| ${long} |`, long]));
  });

  it.each([
    ['plain text, with ümläuts and 日本', 'plain text, with ümläuts and 日本'],
    ['a\r\nb\rc\td', 'a\nb\nc\td'],
    ['red \u001b[31mtext\u001b[0m', 'red [31mtext[0m'],
    ['\u009b2Jx', '2Jx'],
    ['\u202eabc\u2066', 'abc'],
  ])('prints %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each([
    ['abc', 3, 'abc', 'abc'],
    ['abcd', 3, 'ab…', '…cd'],
    ['a😀b😀c', 6, 'a😀b…', '…b😀c'],
    ['a😀b😀c', 3, 'a…', '…c'],
    ['abcd', 0, '…', '…'],
  ])('cuts %j to %i characters, at its end or its start, and no character in two', (text, chars, end, start) => {
    expect([cutEnd(text, chars), cutStart(text, chars)]).toEqual([end, start]);
  });

  it.each([
    [0, '0 tokens'],
    [1, '1 token'],
    [1234567, '1,234,567 tokens'],
  ])('counts %i', (number, text) => {
    expect(count(number, 'token')).toBe(text);
  });

  it('puts text on one line', () => {
    expect(oneLine(' a\n\n b\t c ')).toBe('a b c');
  });
});
