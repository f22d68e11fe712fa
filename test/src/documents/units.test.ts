import { describe, expect, it } from 'vitest';
import { splitHeadings, unitsOf } from '../../../src/documents/units.ts';

describe('the units of a passage', () => {
  it('are paragraphs with their sentences, even if these are wrapped', () => {
    expect(unitsOf('One is here.\nTwo\nis there.\n\nThree.')).toMatchObject([
      { kind: 'prose', text: 'One is here.\nTwo\nis there.', parts: ['One is here.', 'Two is there.'] },
      { kind: 'prose', text: 'Three.', parts: ['Three.'] },
    ]);
  });

  it('are lists with the paragraph that introduces them, and nested items within their item', () => {
    expect(unitsOf('Before.\n\nThe rules are:\n- a\n  - b\n- c')).toMatchObject([
      { kind: 'prose', text: 'Before.' },
      { kind: 'list', lead: 'The rules are:', text: 'The rules are:\n- a\n  - b\n- c', parts: ['- a\n  - b', '- c'] },
    ]);
    expect(unitsOf('No introduction.\n- a')).toMatchObject([
      { kind: 'prose' },
      { kind: 'list', lead: '', text: '- a' },
    ]);
  });

  it('are tables, and each row with the header', () => {
    const units = unitsOf('| name | default |\n| --- | --- |\n| a | 1 |\n| b | 2 |');
    expect(units.map(({ kind }) => kind)).toEqual(['row', 'row', 'table']);
    expect(units[1]).toMatchObject({ text: '| name | default |\n| --- | --- |\n| b | 2 |', parts: ['| b | 2 |'] });
    expect(units[1]?.lead).toBe('| name | default | b');
  });

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
  it.each([
    ['Yield > Order\nText.', 'Yield > Order'],
    ['# Yield\nText.', 'Yield'],
    ['How do I start?\nRun it.', 'How do I start?'],
    ['The rules are:\n- a', ''],
    ['A sentence of its own.\nAnother.', ''],
    ['- item\n- item', ''],
    ['Only one line', ''],
    ['', ''],
  ])('of %j is %j', (content, headings) => {
    expect(splitHeadings(content).headings).toBe(headings);
  });
});
