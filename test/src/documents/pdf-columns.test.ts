import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/documents/read-document.ts';
import { pdfOf } from '../../support/office-files.ts';

const LEFT = [
  'The library opens at nine in the',
  'morning on each day of the week',
  'and closes at seven. Lost books',
  'cost ten euros, which are due as',
  'soon as the loss is reported to',
  'the desk. Magazines stay in the',
  'reading room.',
];
const RIGHT = [
  'Parking is free for all readers',
  'during the first two hours, and',
  'then costs two euros for an hour',
  'until the evening. Bicycles may',
  'be left in front of the entrance',
  'at any time. Dogs are welcome in',
  'the garden only.',
];
const COLUMNS = [...LEFT, ...RIGHT].join(' ');

const at = (lines: readonly string[], x: number, top = 700) =>
  lines.map((text, row) => ({ text, x, y: top - 14 * row }));
const byRow = <One>(left: readonly One[], right: readonly One[]): One[] =>
  left.flatMap((one, row) => [one, ...right.slice(row, row + 1)]);
const textOf = async (...lines: readonly { text: string; x: number; y: number }[]) => {
  const { blocks } = await readDocument({ path: 'a.pdf', bytes: pdfOf([lines]) });
  return blocks
    .map(({ text }) => text)
    .join(' ')
    .replace(/\s+/g, ' ');
};

describe('a PDF page with two columns', () => {
  it.each([
    ['written column by column', [...at(LEFT, 72), ...at(RIGHT, 320)]],
    ['written row by row', byRow(at(LEFT, 72), at(RIGHT, 320))],
    ['whose lines are not at the same height', byRow(at(LEFT, 72), at(RIGHT, 320, 695))],
  ])('is read one column after the other: %s', async (_, lines) => {
    expect(await textOf(...lines)).toBe(COLUMNS);
  });

  it('keeps titles above, between and below the columns in place', async () => {
    const title = 'Rules of the library for all its readers, and for visitors of the city';
    const columns = (top: number) => byRow(at(LEFT, 72, top), at(RIGHT, 320, top));
    const lines = [
      ...at([title], 72, 730),
      ...columns(700),
      ...at([title], 72, 590),
      ...columns(560),
      ...at([title], 72, 450),
    ];
    expect(await textOf(...lines)).toBe([title, COLUMNS, title, COLUMNS, title].join(' '));
  });
});

describe('a PDF page of one column', () => {
  it.each([
    ['a table', LEFT.map((_, row) => `Item ${row}`), LEFT.map((_, row) => `${row}0.00 euros`)],
    ['a table of terms and long texts', LEFT.map((_, row) => `Term ${row}`), RIGHT],
    ['a table of texts of different lengths', LEFT.map((line, row) => line.slice(0, 8 + 4 * row).trim()), RIGHT],
  ])('keeps its rows together: %s', async (_, left, right) => {
    expect(await textOf(...byRow(at(left, 72), at(right, 320)))).toBe(byRow(left, right).join(' '));
  });

  it('keeps a few rows of two texts together', async () => {
    const [left, right] = [LEFT.slice(0, 3), RIGHT.slice(0, 3)];
    expect(await textOf(...byRow(at(left, 72), at(right, 320)))).toBe(byRow(left, right).join(' '));
  });
});
