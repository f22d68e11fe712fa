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

const level = (at: number, start: number, format: string, text: string, more = ''): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
const list = (id: number, levels: string): string => `<w:abstractNum w:abstractNumId="${id}">${levels}</w:abstractNum>`;
const use = (id: number, of: number, restart = ''): string =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${restart}</w:num>`;

const restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="3"/></w:lvlOverride>';
const numbering = [
  list(1, level(0, 5, 'decimal', '%1.') + level(1, 1, 'lowerLetter', '%2)')),
  list(2, level(0, 1, 'upperRoman', '%1.') + level(1, 1, 'decimal', '%1.%2')),
  list(3, level(0, 1, 'bullet', '•')),
  list(4, level(0, 1, 'decimal', 'Article %1')),
  list(5, level(0, 1, 'decimalZero', '%1.') + level(1, 1, 'decimal', '%1.%2.', '<w:lvlRestart w:val="0"/>')),
  list(6, level(0, 1, 'upperRoman', '%1.') + level(1, 1, 'decimal', '%1.%2.', '<w:isLgl/>')),
  list(7, '<w:numStyleLink w:val="Letters"/>'),
  list(8, `<w:styleLink w:val="Letters"/>${level(0, 3, 'upperLetter', '%1.')}`),
  list(9, level(0, 1, 'decimal', '%1.') + level(1, 1, 'decimal', '%1.%2.', '<w:pStyle w:val="Clause"/>')),
  use(1, 1),
  use(2, 2),
  use(3, 3),
  use(4, 4),
  use(5, 1, restart),
  use(6, 5),
  use(7, 6),
  use(8, 7),
  use(9, 1, `<w:lvlOverride w:ilvl="0">${level(0, 10, 'upperLetter', '%1)')}</w:lvlOverride>`),
  use(10, 9),
  use(11, 8),
].join('');
const style = (id: string, name: string, properties = ''): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:pPr>${properties}</w:pPr></w:style>`;
const styles = [
  style('Heading1', 'heading 1', '<w:numPr><w:numId w:val="2"/></w:numPr>'),
  style('Heading2', 'heading 2', '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="2"/></w:numPr>'),
  style('Clause', 'clause', '<w:numPr><w:numId w:val="10"/></w:numPr>'),
  style('Special', 'special clause').replace('<w:pPr>', '<w:basedOn w:val="Article"/><w:pPr>'),
  style('Article', 'article', '<w:numPr><w:numId w:val="1"/></w:numPr>'),
  '<w:style w:type="numbering" w:styleId="Letters"><w:pPr><w:numPr><w:numId w:val="11"/></w:numPr></w:pPr></w:style>',
].join('');

const read = async (paragraphs: readonly Numbered[]) => {
  const bytes = docxWith(paragraphs.map(paragraph).join(''), { numbering, styles });
  return (await readDocument({ path: 'a.docx', bytes })).blocks;
};

/** Paragraphs with the texts a, b, c …, each in this list or, after a slash, at this level of it. */
const listed = (places: string): readonly Numbered[] =>
  places.split(' ').map((place, at) => {
    const [list, level] = place.split('/').map(Number);
    return { text: 'abcde'.charAt(at), ...(list !== undefined && { list }), ...(level !== undefined && { level }) };
  });

describe('the numbers of a DOCX list', () => {
  it.each<[string, readonly Numbered[], string]>([
    ['start where the list does', listed('1 1'), '5. a\n6. b'],
    ['are those of each level', listed('1 1/1 1/1 1 1/1'), '5. a\n  a) b\n  b) c\n6. d\n  a) e'],
    ['include those of the levels above', listed('2 2/1'), 'I. a\n  - I.1 b'],
    ['start again for a list that says so', listed('1 5 5'), '5. a\n3. b\n4. c'],
    ['may have words', listed('4 4'), '- Article 1 a\n- Article 2 b'],
    [
      'continue below a higher level with a zero, if the list says so',
      listed('6 6/1 6 6/1'),
      '01. a\n  01.1. b\n02. c\n  02.2. d',
    ],
    ['are all digits in a legal level', listed('7 7/1'), 'I. a\n  1.1. b'],
    ['are those of a linked style', listed('8'), 'C. a'],
    ['are those of an overridden level', listed('9'), 'J) a'],
    ['have the level of the style', [{ text: 'a', style: 'Clause' }], '  1.1. a'],
    ['are those of the style below a style', [{ text: 'a', style: 'Special' }], '5. a'],
    ['are none for bullets', listed('3'), '- a'],
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

it('a deleted item of a DOCX list has no number', async () => {
  const deleted = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:rPr><w:del w:id="1"/></w:rPr>';
  const body = [
    paragraph({ text: 'a', list: 1 }),
    `<w:p><w:pPr>${deleted}</w:pPr><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>`,
    paragraph({ text: 'b', list: 1 }),
  ].join('');
  const { blocks } = await readDocument({ path: 'a.docx', bytes: docxWith(body, { numbering }) });
  expect(blocks.map((block) => block.text)).toEqual(['5. a\n6. b']);
});
