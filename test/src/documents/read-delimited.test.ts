import { describe, expect, it } from 'vitest';
import { readDelimited } from '../../../src/documents/read-delimited.ts';
import { readText } from '../../../src/documents/read-text.ts';
import { atOnce } from '../../support/at-once.ts';

const rowsIn = (text: string): readonly string[] =>
  atOnce(readDelimited(text)).flatMap((block) => block.text.split('\n'));

describe('a table with delimiters', () => {
  it.each([
    ['commas', 'town,fee\nBergen,5\n'],
    ['semicolons', 'town;fee\nBergen;5'],
    ['tabs', 'town\tfee\nBergen\t5\n'],
    ['bars', 'town|fee\nBergen|5'],
    ['bars at both ends', '| town | fee |\n|---|---|\n| Bergen | 5 |'],
    ['a named delimiter', 'sep=_\ntown_fee\nBergen_5'],
    ['quotes', '"town","fee"\n"Bergen","5"'],
    ['empty lines', 'town,fee\n\nBergen,5\n,\n'],
  ])('has a row per line, under its header: %s', (_, text) => {
    expect(rowsIn(text)).toEqual(['| town | fee |', '| --- | --- |', '| Bergen | 5 |']);
  });

  it.each([
    ['delimiters, quotes and line breaks in quotes', 'a,b\n"x, ""y""\nz",2', '| x, "y" z | 2 |'],
    ['a bar in a cell', 'a,b\nx|y,2', '| x\\|y | 2 |'],
    ['a quote within a cell, and one that is not closed', 'a;b\n5" nail;"open', '| 5" nail | "open |'],
    ['decimal commas', 'a;b\nx;5,50\ny;6,50', '| y | 6,50 |'],
    ['a missing cell', 'a,b,c\nx,1', '| x | 1 |'],
  ])('may have %s', (_, text, last) => {
    expect(rowsIn(text).at(-1)).toBe(last);
  });

  it('has no header if its first row has numbers, and knows the lines of its rows', () => {
    const [block] = atOnce(readDelimited('Bergen,5\n"Os\nlo",6\nNarvik,7'));
    expect(block).toMatchObject({ text: '| Bergen | 5 |\n| Os lo | 6 |\n| Narvik | 7 |', lines: [1, 2, 4] });
  });

  it('repeats its header in each part, and takes linear time', () => {
    const rows = Array.from({ length: 50_000 }, (_, at) => `Town${at},"${at}`);
    const blocks = atOnce(readDelimited(`town,fee\n${rows.join('\n')}`));
    expect(blocks).toHaveLength(250);
    for (const { text } of blocks) expect(text).toMatch(/^\| town \| fee \|\n/u);
  });

  it.each([
    ['with tabs', 'Adults\t12 euros\nChildren\t5 euros', 'table'],
    ['with bars', '| a | b |\n| --- | --- |\n| x | 1 |', 'table'],
    ['with commas', 'a,b,c\nx,1,2', 'table'],
    ['but not prose', 'He came; he saw,\nhe won; he left,', 'prose'],
    ['nor code', 'first();\nsecond();', 'code'],
  ])('is found within text %s', (_, text, kind) => {
    expect(atOnce(readText(text))).toMatchObject([{ kind }]);
  });
});
