import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ParsedDocument } from '../../../src/documents/document.ts';
import { DocumentCache } from '../../../src/documents/document-cache.ts';
import { loadDocuments } from '../../../src/documents/load-documents.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import { operationsOf } from '../../support/operation-count.ts';

let folder: string;
let cache: string;
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'postchain-cache-'));
  folder = join(root, 'docs');
  cache = join(root, 'deep', 'cache');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.md'), SAMPLES['.md']);
  writeFileSync(join(folder, 'b.txt'), SAMPLES['.txt']);
  return () => rmSync(root, { recursive: true });
});

const SAMPLES = {
  '.md':
    '# Title\n\nOne *two* `three`:\n\n- a\n- b\n\n```js\ncode();\n```\n\n| a | b |\n| - | - |\n| c | d |\n\n<p>HTML</p>\n',
  '.txt': 'Running runners ran.\n\n- first\n- second\n',
  '.html': '<title>Page</title><h1>Title</h1><p>Text</p><ul><li>a<li>b</ul><table><tr><th>k<td>v</table>',
  '.json': '{"name": "x", "list": [1, {"deep": "value"}]}',
};

const { signal } = new AbortController();
const search = (documents: readonly ParsedDocument[], query: string) =>
  createPassageIndex(documents).search(query, { limit: 5, minRelevance: 0, signal });
const load = async (options: Parameters<typeof loadDocuments>[1] = { cache }) =>
  (await loadDocuments([folder], options)).documents;
const cached = (): string[] => readdirSync(cache).map((name) => join(cache, name));

describe('the document cache', () => {
  it('returns the same documents and passages as without a cache', async () => {
    const fresh = await load({});
    for (const documents of [await load(), await load()]) {
      expect(documents).toEqual(fresh);
      for (const query of ['runner', 'two code', 'titel'])
        expect(await search(documents, query)).toEqual(await search(fresh, query));
    }
  });

  it('saves most of the work of loading', async () => {
    const words = Array.from({ length: 3_000 }, (_, at) => `word${at % 701}`).join(' ');
    writeFileSync(join(folder, 'a.md'), `${`- item one two ${words.slice(0, 60)}\n`.repeat(200)}\n${words}`);
    const cold = await operationsOf(load);
    const warm = await operationsOf(load);
    expect(warm).toBeLessThan(cold / 2);
  });

  it('reads a changed file again', async () => {
    await load();
    writeFileSync(join(folder, 'b.txt'), 'Changed.');
    expect((await load()).at(-1)?.blocks).toMatchObject([{ text: 'Changed.' }]);
  });

  it('distinguishes files of the same content by how they are read', async () => {
    writeFileSync(join(folder, 'b.txt'), SAMPLES['.md']);
    await load();
    const [markdown, text] = await load();
    expect(markdown?.blocks[0]?.heading).toEqual(['Title']);
    expect(text?.blocks[0]?.text).toBe('# Title');
  });

  it('is readable only by its owner', async () => {
    await load();
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    expect(cached().map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it.each<[string, (path: string, other: string) => void]>([
    ['was cut', (path) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
    ['is empty', (path) => writeFileSync(path, '')],
    [
      'has a wrong byte',
      (path) =>
        writeFileSync(
          path,
          readFileSync(path).map((byte, at) => (at === 60 ? byte ^ 1 : byte)),
        ),
    ],
    ['belongs to another document', (path, other) => writeFileSync(path, readFileSync(other))],
    ['others can read', (path) => chmodSync(path, 0o644)],
    [
      'is a link',
      (path, other) => {
        rmSync(path);
        symlinkSync(other, path);
      },
    ],
  ])('replaces a file that %s', async (_, damage) => {
    const fresh = await load();
    const [path = '', other = ''] = cached();
    const whole = readFileSync(path);
    damage(path, other);
    expect(await load()).toEqual(fresh);
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is not used if its directory cannot be written', async () => {
    mkdirSync(join(cache, '..'));
    writeFileSync(cache, 'a file');
    expect(await load()).toEqual(await load({}));
  });

  it('removes the files that were not used for the longest time above its limit', async () => {
    const block = { text: 'a', heading: [], startLine: 1, endLine: 1, kind: 'prose', lines: [1] } as const;
    const small = new DocumentCache(cache, 600);
    for (const [at, key] of ['old', 'new'].entries()) {
      await small.write(key, [block]);
      utimesSync(join(cache, `${key}.document`), at, at);
    }
    await small.write('last', [{ ...block, text: 'b'.repeat(200) }]);
    await small.trim();
    expect(await small.read('old')).toBeNull();
    expect(await small.read('new')).toEqual([block]);
    expect(await small.read('last')).toMatchObject([{ text: 'b'.repeat(200) }]);
  });

  it('has a format number that stands for what is read from files', async () => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    for (const [extension, text] of Object.entries(SAMPLES)) writeFileSync(join(folder, `sample${extension}`), text);
    const read = (await load({})).map(({ blocks }) => blocks);
    const digest = createHash('sha256').update(JSON.stringify(read)).digest('hex').slice(0, 16);
    // If this fails, reading has changed: raise FORMAT in document-cache.ts, then change the digest.
    expect(digest).toBe('bdf9cc625b5cf6f3');
  });
});
