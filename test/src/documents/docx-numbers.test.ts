import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/documents/read-document.ts';
import { docxWith } from '../../support/office-files.ts';

interface Numbered {
  readonly text: string;
  readonly list?: number;
  readonly level?: number;
  readonly style?: string;
}

function paragraph({ text, list, level = 0, style }: Numbered): string {
  const number = list === undefined ? '' : `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`;
  const named = style === undefined ? '' : `<w:pStyle w:val="${style}"/>`;
  return `<w:p><w:pPr>${named}${number}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
}

const level = (at: number, start: number, format: string, text: string): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
const list = (id: number, levels: string): string => `<w:abstractNum w:abstractNumId="${id}">${levels}</w:abstractNum>`;
const use = (id: number, of: number, restart = ''): string =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${restart}</w:num>`;

const restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="3"/></w:lvlOverride>';
const numbering = [
  list(1, level(0, 5, 'decimal', '%1.') + level(1, 1, 'lowerLetter', '%2)')),
  list(2, level(0, 1, 'upperRoman', '%1.') + level(1, 1, 'decimal', '%1.%2')),
  list(3, level(0, 1, 'bullet', '•')),
  list(4, level(0, 1, 'decimal', 'Article %1')),
  use(1, 1),
  use(2, 2),
  use(3, 3),
  use(4, 4),
  use(5, 1, restart),
].join('');
const style = (id: string, name: string, properties = ''): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:pPr>${properties}</w:pPr></w:style>`;
const styles = [
  style('Heading1', 'heading 1', '<w:numPr><w:numId w:val="2"/></w:numPr>'),
  style('Heading2', 'heading 2', '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="2"/></w:numPr>'),
].join('');

const read = async (paragraphs: readonly Numbered[]) => {
  const bytes = docxWith(paragraphs.map(paragraph).join(''), { numbering, styles });
  return (await readDocument({ path: 'a.docx', bytes })).blocks;
};

describe('the numbers of a DOCX list', () => {
  it.each<[string, readonly Numbered[], string]>([
    [
      'start where the list does',
      [
        { text: 'a', list: 1 },
        { text: 'b', list: 1 },
      ],
      '5. a\n6. b',
    ],
    [
      'are those of each level',
      [
        { text: 'a', list: 1 },
        { text: 'b', list: 1, level: 1 },
        { text: 'c', list: 1, level: 1 },
        { text: 'd', list: 1 },
        { text: 'e', list: 1, level: 1 },
      ],
      '5. a\n  a) b\n  b) c\n6. d\n  a) e',
    ],
    [
      'include those of the levels above',
      [
        { text: 'a', list: 2 },
        { text: 'b', list: 2, level: 1 },
      ],
      'I. a\n  - I.1 b',
    ],
    [
      'start again for a list that says so',
      [
        { text: 'a', list: 1 },
        { text: 'b', list: 5 },
        { text: 'c', list: 5 },
      ],
      '5. a\n3. b\n4. c',
    ],
    [
      'may have words',
      [
        { text: 'a', list: 4 },
        { text: 'b', list: 4 },
      ],
      '- Article 1 a\n- Article 2 b',
    ],
    ['are none for bullets', [{ text: 'a', list: 3 }], '- a'],
  ])('%s', async (_, paragraphs, text) => {
    expect((await read(paragraphs)).map((block) => block.text)).toEqual([text]);
  });

  it('are part of headings', async () => {
    const blocks = await read([
      { text: 'Scope', style: 'Heading1' },
      { text: 'Fees', style: 'Heading1' },
      { text: 'Late', style: 'Heading2' },
      { text: 'Ten euros.' },
    ]);
    expect(blocks.at(-1)).toMatchObject({ text: 'Ten euros.', heading: ['II. Fees', 'II.1 Late'] });
  });
});

it('the merged cells of a DOCX table are in their columns', async () => {
  const cell = (text: string, properties = ''): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const row = (cells: string, properties = ''): string => `<w:tr><w:trPr>${properties}</w:trPr>${cells}</w:tr>`;
  const rows = [
    row(cell('Region') + cell('Product') + cell('Units'), '<w:tblHeader/>'),
    row(cell('EU', '<w:vMerge w:val="restart"/>') + cell('Cable') + cell('12')),
    row(cell('', '<w:vMerge/>') + cell('Hub') + cell('7')),
    row(cell('All', '<w:gridSpan w:val="2"/>') + cell('19')),
  ].join('');
  const { blocks } = await readDocument({ path: 'a.docx', bytes: docxWith(`<w:tbl>${rows}</w:tbl>`) });
  expect(blocks.map((block) => block.text)).toEqual([
    '| Region | Product | Units |\n| --- | --- | --- |\n| EU | Cable | 12 |\n| EU | Hub | 7 |\n| All |  | 19 |',
  ]);
});
