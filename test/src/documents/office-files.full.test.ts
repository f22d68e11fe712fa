import { deflateSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { docxHtml, pdfPages } from '../../../src/documents/office-files.ts';
import { readDocument } from '../../../src/documents/read-document.ts';
import { docxBomb, pdfOf } from '../../support/office-files.ts';

/** A page of nested graphics states. PDF.js would work on it for hours. */
const hostile = pdfOf([['first'], [`x) Tj ${'q '.repeat(60_000)} (y`]]);

/** A page of a few kB that is 300 MB of spaces when it is unpacked. */
function pdfBomb(): Uint8Array {
  const packed = deflateSync(deflateSync(Buffer.alloc(300e6, ' '))).toString('latin1');
  const filters = '/Filter [/FlateDecode /FlateDecode]';
  const stream = `<< /Length ${packed.length} ${filters} >>\nstream\n${packed}\nendstream`;
  const plain = Buffer.from(pdfOf([['one']])).toString('latin1');
  return Buffer.from(
    plain.replace(/<< \/Length.*?endstream/su, () => stream),
    'latin1',
  );
}

describe('a PDF', () => {
  it('is read page by page, even if several are read at once', async () => {
    const one = pdfOf([['one', 'two'], ['three']]);
    const read = await Promise.all([pdfPages(one, 'a'), pdfPages(pdfOf([['four']]), 'b')]);
    expect(read).toEqual([['one\ntwo', 'three'], ['four']]);
  });

  it('that needs too much memory is rejected with the reason', async () => {
    const read = await pdfPages(hostile, 'a', { timeMs: 600_000, memoryMb: 16 });
    expect(read).toBe('reading it takes more than 16 MB of memory');
  });

  it('that unpacks to too much memory outside the heap is rejected with the reason', async () => {
    const file = pdfBomb();
    expect(file.length).toBeLessThan(10_000);
    const read = await pdfPages(file, 'a', { timeMs: 600_000, memoryMb: 100 });
    expect(read).toBe('reading it takes more than 100 MB of memory');
  });

  it('is read after one whose worker could not start', async () => {
    const real = process.getBuiltinModule;
    const getBuiltinModule = vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) => {
      if (name === 'node:worker_threads') throw new Error('no threads left');
      return real(name);
    }) as typeof real);
    const limits = { timeMs: 60_000, memoryMb: 1_000 };
    await expect(pdfPages(pdfOf([['one']]), 'a', limits)).rejects.toThrow('no threads left');
    getBuiltinModule.mockRestore();
    expect(await pdfPages(pdfOf([['two']]), 'b', limits)).toEqual(['two']);
  });

  it('is read after others that could not be read', async () => {
    await expect(readDocument({ path: 'a.pdf', bytes: new Uint8Array(9) })).rejects.toThrow('not a PDF file');
    expect((await readDocument({ path: 'b.pdf', bytes: pdfOf([['one']]) })).blocks).toMatchObject([{ text: 'one' }]);
  });
});

describe('a file that takes too long', () => {
  const limits = { timeMs: 500, memoryMb: 1_000 };

  it.each([
    ['PDF', () => pdfPages(hostile, 'a', limits)],
    ['DOCX', () => docxHtml(docxBomb(3_000_000), 'a', limits)],
  ])('is rejected with the reason, and timers fire while it is read: %s', async (_, read) => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const outcome = await read();
    clearInterval(timer);
    expect(outcome).toBe('reading it takes more than 0.5 s');
    expect(turns).toBeGreaterThan(10);
  });
});
