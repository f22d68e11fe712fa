import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadDocuments } from '../../../src/documents/load-documents.ts';
import { documentsFrom, readDocument } from '../../../src/documents/read-document.ts';
import { pdfOf } from '../../support/office-files.ts';

vi.mock('unpdf', () => {
  throw Object.assign(new Error("Cannot find package 'unpdf'"), { code: 'ERR_MODULE_NOT_FOUND' });
});

const reason = 'requires the package "unpdf", which is not installed; run: npm install unpdf';
const bytes = pdfOf([['The library opens at nine.']]);
let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postchain-missing-'));
  path = join(folder, 'rules.pdf');
  writeFileSync(path, bytes);
  writeFileSync(join(folder, 'faq.txt'), 'Lost books cost ten euros.');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('without the package for PDF', () => {
  it('loadDocuments skips the PDF files of a folder', async () => {
    const { documents, skipped } = await loadDocuments([folder]);
    expect(documents).toMatchObject([{ path: join(folder, 'faq.txt') }]);
    expect(skipped).toEqual([{ path, reason }]);
  });

  it('loadDocuments rejects with the path of a PDF that is passed by name', async () => {
    const message = `document ${JSON.stringify(path)} ${reason}`;
    await expect(loadDocuments([path])).rejects.toMatchObject({ code: 'package_missing', message });
  });

  it('documentsFrom skips PDF files, and readDocument rejects', async () => {
    expect(await documentsFrom([{ path: 'a.pdf', bytes }])).toEqual({
      documents: [],
      skipped: [{ path: 'a.pdf', reason }],
    });
    const message = `document "a.pdf" ${reason}`;
    await expect(readDocument({ path: 'a.pdf', bytes })).rejects.toMatchObject({ code: 'package_missing', message });
  });
});
