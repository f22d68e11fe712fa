import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../../../src/documents/load-documents.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import { type Document, documentsFrom, readDocument } from '../../../src/documents/read-document.ts';
import { readPassage } from '../../../src/tools/read-passage.ts';
import { docxBomb, docxWith, pdfOf } from '../../support/office-files.ts';

/** Returns a DOCX file with a heading and paragraphs. */
function docxOf(heading: string, paragraphs: readonly string[]): Uint8Array {
  const paragraph = (text: string, style = ''): string => `<w:p>${style}<w:r><w:t>${text}</w:t></w:r></w:p>`;
  const title = paragraph(heading, '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>');
  const body = [title, ...paragraphs.map((text) => paragraph(text))].join('');
  return docxWith(body);
}

const { signal } = new AbortController();
const search = (documents: Parameters<typeof createPassageIndex>[0], query: string) =>
  createPassageIndex(documents).search(query, { limit: 5, minRelevance: 0, signal });

describe('a document', () => {
  it('needs only a path and a text to be searched', async () => {
    const { passages } = await search([{ path: 'faq/17', text: 'The library opens at nine.' }], 'When does it open?');
    expect(passages).toMatchObject([{ text: 'The library opens at nine.', source: { path: 'faq/17', startLine: 1 } }]);
  });

  it('is read by its type, otherwise by the extension of its path, otherwise as text', async () => {
    const text = '# Hours\n\nFrom nine to five.';
    const [first] = (await readDocument({ path: 'a', text, type: 'markdown' })).blocks;
    expect(first).toMatchObject({ text: 'From nine to five.', heading: ['Hours'] });
    expect((await readDocument({ path: 'a.MD', text })).blocks[0]).toEqual(first);
    expect((await readDocument({ path: 'a.rst', text })).blocks[0]).toMatchObject({ text: '# Hours', heading: [] });
    const bytes = new TextEncoder().encode(`\uFEFF${text.replaceAll('\n', '\r\n')}`);
    expect((await readDocument({ path: 'a.md', bytes })).blocks[0]).toEqual(first);
  });

  it('may be a PDF, in which each page is a heading and lines are counted in its text', async () => {
    const bytes = pdfOf([['The library opens at nine.'], ['Lost books cost ten euros.']]);
    const { blocks } = await readDocument({ path: 'rules.pdf', bytes });
    expect(blocks).toMatchObject([
      { text: 'The library opens at nine.', heading: ['Page 1'], startLine: 1 },
      { text: 'Lost books cost ten euros.', heading: ['Page 2'], startLine: 2, lines: [2] },
    ]);
    // The caller keeps its bytes.
    expect(bytes.length).toBeGreaterThan(0);
  });

  it('may be a DOCX file, whose headings are kept', async () => {
    const bytes = docxOf('Loans', ['Lost books cost ten euros.', 'Magazines stay here.']);
    const { blocks } = await readDocument({ path: 'rules.docx', bytes });
    expect(blocks.map(({ text, heading }) => ({ text, heading }))).toEqual([
      { text: 'Lost books cost ten euros.', heading: ['Loans'] },
      { text: 'Magazines stay here.', heading: ['Loans'] },
    ]);
  });

  it('may have bytes beside an undefined text', async () => {
    const document = { path: 'a.txt', text: undefined, bytes: new TextEncoder().encode('From nine to five.') };
    expect((await readDocument(document as never)).blocks).toMatchObject([{ text: 'From nine to five.' }]);
  });

  it.each([
    ['declares', docxBomb(20_000_001), 'it unpacks to more than 20 MB.'],
    ['hides', docxBomb(20_000_001, 1_000), 'it is not a DOCX file, or it is damaged or encrypted.'],
  ])('that %s that it unpacks to more than 20 MB is refused', async (_, bytes, reason) => {
    expect(bytes.length).toBeLessThan(50_000);
    await expect(readDocument({ path: 'a.docx', bytes })).rejects.toMatchObject({
      code: 'invalid_option',
      message: `document "a.docx": ${reason}`,
    });
  });

  it('may be a DOCX file with other bytes before the archive', async () => {
    const bytes = Buffer.concat([Buffer.alloc(7), docxOf('Loans', ['Lost books cost ten euros.'])]);
    expect((await readDocument({ path: 'a.docx', bytes })).blocks).toMatchObject([{ heading: ['Loans'] }]);
  });

  it.each([
    [{ path: 'a.pdf', text: 'x' }, 'document "a.pdf": expected the bytes of a PDF file; received text.'],
    [
      { path: 'a.pdf', bytes: new Uint8Array(9) },
      'document "a.pdf": it is not a PDF file, or it is damaged or encrypted.',
    ],
    [
      { path: 'a.docx', bytes: new Uint8Array(9) },
      'document "a.docx": it is not a DOCX file, or it is damaged or encrypted.',
    ],
    [{ path: 'a.txt', bytes: new Uint8Array(9) }, 'document "a.txt": it is binary, or in an unknown encoding.'],
  ])('that cannot be read is refused with the reason: %j', async (document: Document, message) => {
    await expect(readDocument(document)).rejects.toMatchObject({ code: 'invalid_option', message });
  });

  it.each([
    ['an Excel workbook', 'a.txt', 'PK\u0003\u0004 xl/workbook.xml'],
    ['an Excel workbook', 'a.xls', '\u00D0\u00CF\u0011\u00E0 W\0o\0r\0k\0b\0o\0o\0k\0'],
    ['a Word document in the old format', 'a.doc', '\u00D0\u00CF\u0011\u00E0'],
    ['a presentation', 'a.docx', 'PK\u0003\u0004 ppt/presentation.xml'],
    ['an OpenDocument text', 'a.odt', 'PK\u0003\u0004mimetypeapplication/vnd.oasis.opendocument.text'],
    ['an e-book', 'a.epub', 'PK\u0003\u0004mimetypeapplication/epub+zip'],
    ['an RTF file', 'notes', '{\\rtf1\\ansi The fee is 5 euros.}'],
    ['an email', 'a.eml', 'Subject: Fee\n\nThe fee is 5 euros.'],
    ['an email', 'a.txt', 'From: a@b.c\nSubject: Fee\nMIME-Version: 1.0\n\nThe fee is 5 euros.'],
    ['an image', 'a.md', '\u0089PNG\r\n'],
    ['an archive', 'a.txt', 'PK\u0003\u0004 other.txt'],
    ['an archive', 'a.json', '\u001F\u008B\b\0'],
  ])('that is %s is refused by name: %s', async (format, path, content) => {
    const message = expect.stringMatching(
      new RegExp(`^document "${path}": it is ${format}, which is not supported; .+\\.$`),
    );
    await expect(readDocument({ path, bytes: Buffer.from(content, 'latin1') })).rejects.toMatchObject({ message });
  });

  it('is recognized by its content, whatever its name', async () => {
    const bytes = docxOf('Loans', ['Lost books cost ten euros.']);
    expect((await readDocument({ path: 'a.txt', bytes })).blocks).toMatchObject([{ heading: ['Loans'] }]);
    const text = 'From: me\nTo: you\n\nA PDF file begins with %PDF-1.7.';
    expect((await readDocument({ path: 'a.txt', text })).blocks).toHaveLength(2);
  });

  it.each([
    [{ path: 'a' }],
    [{ path: '', text: 'x' }],
    [{ text: 'x' }],
    [null],
    [{ path: 'a', text: 'x', type: 'doc' }],
    [{ path: 'a'.repeat(1_001), text: 'x' }],
  ])('of the wrong form is refused: %j', async (document) => {
    await expect(readDocument(document as never)).rejects.toMatchObject({ code: 'invalid_option' });
  });

  it('is readable by line through readPassage', async () => {
    const capability = readPassage([{ path: 'notes', text: 'one\ntwo\n\nthree' }]);
    const result = await capability.execute({ path: 'notes', startLine: 2 } as never, { signal } as never);
    expect(result).toBe('notes, lines 2-4 of 4\n2: two\n4: three');
  });
});

describe('a passage index of documents that are not read', () => {
  const damaged = { path: 'a.pdf', bytes: new Uint8Array(9) };

  it('leaves out those that cannot be read', async () => {
    const { passages } = await search([damaged, { path: 'b.txt', text: 'The library opens at nine.' }], 'library');
    expect(passages).toMatchObject([{ source: { path: 'b.txt' } }]);
  });

  it('rejects with the first reason if none can be read', async () => {
    await expect(search([damaged, { ...damaged, path: 'b.pdf' }], 'library')).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'document "a.pdf": it is not a PDF file, or it is damaged or encrypted.',
    });
  });
});

describe('a document that is read', () => {
  const block = { text: 'x', heading: ['a'], startLine: 1, endLine: 2, kind: 'prose', lines: [1] };

  it.each([
    ['heading.0', { heading: [1] }, 'documents.0.blocks.0.heading.0: expected a string; received 1.'],
    ['lines.0', { lines: ['1'] }, 'documents.0.blocks.0.lines.0: expected a number; received "1".'],
    ['startLine', { startLine: 0 }, 'documents.0.blocks.0.startLine: expected a number of at least 1; received 0.'],
    ['language', { language: 5 }, 'documents.0.blocks.0.language: expected a string; received 5.'],
  ])('is refused if a block is invalid: %s', (_, change, message) => {
    const document = { path: 'a', blocks: [{ ...block, ...change }] };
    expect(() => createPassageIndex([document as never])).toThrow(expect.objectContaining({ message }));
  });
});

describe('documents with the same path', () => {
  const documents = [
    { path: 'a', text: 'The library opens at nine.' },
    { path: 'b', text: 'Lost books cost ten euros.' },
    { path: 'a', text: 'The library closes at five.' },
  ];

  it('are rejected by a passage index, because the path identifies a source', () => {
    const message = 'documents.2.path: expected a different path from document 0; received "a".';
    expect(() => createPassageIndex(documents)).toThrow(expect.objectContaining({ code: 'invalid_option', message }));
  });

  it('are skipped by documentsFrom, except the first', async () => {
    const read = await documentsFrom(documents);
    expect(read.documents).toMatchObject([
      { path: 'a', blocks: [{ text: 'The library opens at nine.' }] },
      { path: 'b' },
    ]);
    expect(read.skipped).toEqual([{ path: 'a', reason: 'an earlier document has the same path' }]);
  });
});

describe('documentsFrom', () => {
  it('skips invalid documents with a reason', async () => {
    const given = [{ path: 'a', text: 'ok' }, { path: 'b', text: null }, { text: 'x' }, null];
    const { documents, skipped } = await documentsFrom(given as never);
    expect(documents.map(({ path }) => path)).toEqual(['a']);
    expect(skipped).toEqual([
      { path: 'b', reason: 'text: expected a string; received null' },
      { path: '', reason: 'path: expected a string; received undefined' },
      { path: '', reason: 'document: expected an object; received null' },
    ]);
  });

  it.each([
    [5, '5'],
    ['a.txt', '"a.txt"'],
    [{}, 'an object with no keys'],
    [null, 'null'],
  ])('refuses %j, which is not iterable', async (given, received) => {
    await expect(documentsFrom(given as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: `documents: expected an array, an iterable or an async iterable of documents; received ${received}.`,
    });
  });

  it('reads documents from any source, and gives a reason for each that has nothing to search', async () => {
    async function* rows(): AsyncGenerator<Document> {
      yield { path: 'row/1', text: 'The library opens at nine.' };
      yield { path: 'row/2', text: ' ' };
      yield { path: 'row/3.pdf', bytes: new Uint8Array(3) };
    }
    const { documents, skipped } = await documentsFrom(rows());
    expect(documents.map(({ path }) => path)).toEqual(['row/1']);
    expect(skipped).toEqual([
      { path: 'row/2', reason: 'contains no text' },
      { path: 'row/3.pdf', reason: 'it is not a PDF file, or it is damaged or encrypted' },
    ]);
  });
});

it('loadDocuments reads PDF and DOCX files of a folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-documents-'));
  writeFileSync(join(folder, 'a.pdf'), pdfOf([['The library opens at nine.']]));
  writeFileSync(join(folder, 'b.docx'), docxOf('Loans', ['Lost books cost ten euros.']));
  const { documents, skipped } = await loadDocuments([folder]);
  expect(skipped).toEqual([]);
  expect(documents.map(({ blocks }) => blocks[0]?.text)).toEqual([
    'The library opens at nine.',
    'Lost books cost ten euros.',
  ]);
});
