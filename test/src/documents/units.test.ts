import { describe, expect, it } from 'vitest';
import { splitHeadings, unitsOf } from '../../../src/documents/units.ts';

describe('the units of a passage', () => {
  it('are single rows in a later part of a long table, which has no header', () => {
    expect(unitsOf('| a | 1 |\n| b | 2 |')).toMatchObject([
      { kind: 'row', lead: 'a', text: '| a | 1 |' },
      { kind: 'row', lead: 'b', text: '| b | 2 |' },
      { kind: 'table', lead: '', parts: ['| a | 1 |', '| b | 2 |'] },
    ]);
  });

  it('have the code after them, and code is not a unit', () => {
    const units = unitsOf('```js\nfirst();\n```\n\nRun it:\n\n````md\n```\nx\n```\n````\n\nDone.\n\n```\nnot closed');
    expect(units).toMatchObject([
      { text: 'Run it:', code: '````md\n```\nx\n```\n````' },
      { text: 'Done.', code: '```\nnot closed' },
    ]);
  });
});

describe('the heading of a search result', () => {
  const source = { path: 'a.md', startLine: 1, endLine: 1 };

  it.each([
    ['Yield > Order\nText.', 'Yield > Order'],
    ['3. Fees (in euros):\nText.', '3. Fees (in euros):'],
    ['\nThe library opens at nine!\n\nParking is free.', ''],
    ['Only one line', ''],
    ['', ''],
  ])('is the first line of a passage: %j', (content, headings) => {
    expect(splitHeadings({ content, source }).headings).toBe(headings);
  });

  it.each([
    ['# Yield\nText.', 'Yield'],
    ['lookup: The library opens at nine\nParking is free', ''],
  ])('is in the result of a tool what Markdown marks as one: %j', (content, headings) => {
    expect(splitHeadings({ content, source: null }).headings).toBe(headings);
  });
});
