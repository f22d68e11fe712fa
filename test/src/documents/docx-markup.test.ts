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
    ['a field', paragraph(`${run('Page ')}<w:fldSimple w:instr="PAGE">${run('3')}</w:fldSimple>`), '', 'Page 3'],
    [
      'text with a direction',
      paragraph(`<w:dir w:val="rtl">${run('big')}</w:dir><w:bdo w:val="ltr">${run(' indeed')}</w:bdo>`),
      '',
      'big indeed',
    ],
    [
      'text with a reading',
      paragraph(
        `<w:r><w:ruby><w:rubyPr/><w:rt>${run('とう')}</w:rt><w:rubyBase>${run('東')}</w:rubyBase></w:ruby></w:r>`,
      ),
      '',
      '東',
    ],
    [
      'an equation',
      paragraph(
        '<m:oMath xmlns:m="urn:m"><m:r><m:t>a=</m:t></m:r><m:f><m:num><m:r><m:t>b+1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>',
      ),
      '',
      'a=(b+1)/2',
    ],
    ['superscripts', paragraph(run('10') + run('2', '<w:vertAlign w:val="superscript"/>')), '', '10^2'],
  ])('is what Word shows: %s', async (_, body, styles, text) => {
    expect(await textOf(body, styles)).toEqual([text]);
  });

  it('has the text of a note in place of its reference', async () => {
    const reference = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>';
    const body = paragraph(run('The fee') + reference + run(' is due.')) + paragraph(run('More.'));
    const footnotes = `<w:footnote w:id="2">${paragraph(run('Ten euros.'))}</w:footnote>`;
    const { blocks } = await readDocument({ path: 'a.docx', bytes: docxWith(body, { footnotes }) });
    expect(blocks.map(({ text }) => text)).toEqual(['The fee [Ten euros.] is due.', 'More.']);
  });
});

describe('the headings of a DOCX file', () => {
  const title = '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>';
  const level =
    '<w:style w:type="paragraph" w:styleId="L"><w:name w:val="Mine"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>';

  it.each([
    ['a title', paragraph(run('Fees'), 'T'), title],
    ['a style with an outline level', paragraph(run('Fees'), 'L'), level],
    ['an outline level', `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr>${run('Fees')}</w:p>`, ''],
  ])('include those by %s', async (_, heading, styles) => {
    const bytes = docxWith(heading + paragraph(run('A card costs 5 euros.')), { styles });
    expect((await readDocument({ path: 'a.docx', bytes })).blocks).toMatchObject([{ heading: ['Fees'] }]);
  });
});

it('the text of headers and footers comes before that of a DOCX file, each once', async () => {
  const parts = {
    header1: paragraph(run('Valid until 2027.')),
    header2: paragraph(run('Valid until 2027.')),
    footer1: paragraph(run('3')),
  };
  const { blocks } = await readDocument({ path: 'a.docx', bytes: docxWith(paragraph(run('Body.')), parts) });
  expect(blocks.map(({ text }) => text)).toEqual(['Valid until 2027.', 'Body.']);
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
