import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/documents/read-document.ts';
import { docxWith } from '../../support/office-files.ts';

const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (runs: string, style = 'Plain'): string =>
  `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr>${runs}</w:p>`;
const hidden = (type: string): string =>
  `<w:style w:type="${type}" w:styleId="Hidden"><w:name w:val="hidden"/><w:rPr><w:vanish/></w:rPr></w:style>`;

const textOf = async (body: string, styles = ''): Promise<readonly string[]> => {
  const { blocks } = await readDocument({ path: 'a.docx', bytes: docxWith(body, { styles }) });
  return blocks.map(({ text }) => text);
};

describe('the text of a DOCX file', () => {
  it.each([
    [
      'hidden runs',
      paragraph(run('The fee is ') + run('999', '<w:b/><w:vanish/>') + run('120.')),
      '',
      'The fee is 120.',
    ],
    ['runs whose hiding is turned off', paragraph(run('a ') + run('b', '<w:vanish w:val="0"/>')), '', 'a b'],
    ['runs of a hidden style', paragraph(run('a') + run('b', '<w:rStyle w:val="Hidden"/>')), hidden('character'), 'a'],
    ['paragraphs of a hidden style', paragraph(run('a'), 'Hidden') + paragraph(run('b')), hidden('paragraph'), 'b'],
    [
      'struck-out runs',
      paragraph(run('a ', '<w:strike/>') + run('b') + run(' c', '<w:dstrike/>')),
      '',
      '~~a~~ b ~~c~~',
    ],
    ['superscripts', paragraph(run('10') + run('2', '<w:vertAlign w:val="superscript"/>')), '', '10^2'],
  ])('is what Word shows: %s', async (_, body, styles, text) => {
    expect(await textOf(body, styles)).toEqual([text]);
  });
});

describe('the cells of a DOCX table', () => {
  const cell = (text: string, properties = ''): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const row = (cells: string, properties = ''): string => `<w:tr><w:trPr>${properties}</w:trPr>${cells}</w:tr>`;
  const header = row(cell('Region') + cell('Product') + cell('Units'), '<w:tblHeader/>');
  it.each([
    [
      'of several rows',
      row(cell('EU', '<w:vMerge w:val="restart"/>') + cell('Cable') + cell('12')) +
        row(cell('', '<w:vMerge/>') + cell('Hub') + cell('7')),
      '| EU | Cable | 12 |\n| EU | Hub | 7 |',
    ],
    ['of several columns', row(cell('All', '<w:gridSpan w:val="2"/>') + cell('19')), '| All |  | 19 |'],
    ['of a row that begins later', row(cell('Hub') + cell('7'), '<w:gridBefore w:val="1"/>'), '|  | Hub | 7 |'],
    ['with bars', row(cell('a | b') + cell('c') + cell('d')), '| a \\| b | c | d |'],
  ])('%s are in their columns', async (_, rows, text) => {
    expect(await textOf(`<w:tbl>${header}${rows}</w:tbl>`)).toEqual([
      `| Region | Product | Units |\n| --- | --- | --- |\n${text}`,
    ]);
  });
});
