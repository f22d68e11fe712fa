import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { loadDocuments } from '../../../src/documents/load-documents.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postchain-load-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

function isReadable(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

describe('loading documents', () => {
  it('reads a directory in sorted order, without dotfiles, node_modules and other file types', async () => {
    for (const name of [
      'b.txt',
      'a/z.md',
      'a/B.MD',
      'c.html',
      'd.json',
      '.hidden.md',
      '.git/x.md',
      'node_modules/p/README.md',
      'x.ts',
    ]) {
      put(name, name.endsWith('json') ? '{"a": 1}' : 'Some text');
    }
    const { documents, skipped } = await loadDocuments([folder]);
    expect(documents.map(({ path }) => path.slice(folder.length + 1))).toEqual([
      'a/B.MD',
      'a/z.md',
      'b.txt',
      'c.html',
      'd.json',
    ]);
    expect(skipped).toEqual([]);
  });

  it('reads a file passed by name as text with any extension, and each file once', async () => {
    const path = put('notes.log', 'Line one');
    const { documents } = await loadDocuments([path, path, folder]);
    expect(documents).toMatchObject([{ path, blocks: [{ text: 'Line one' }] }]);
  });

  it('skips binary, too large and empty files with a reason', async () => {
    put('a.txt', new Uint8Array([65, 0, 66]));
    put('c.txt', 'x'.repeat(101));
    put('d.txt', ' \n');
    const { documents, skipped } = await loadDocuments([folder], { maxFileBytes: 100 });
    expect(documents).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual([
      'it is binary, or in an unknown encoding',
      'too large: more than 100 bytes',
      'contains no text',
    ]);
  });

  it('drops byte order marks and numbers CRLF lines correctly', async () => {
    const path = put('a.md', '\ufeff# Title\r\n\r\nFi\ufeffrst\r\nsecond\r\n\r\nThird\r\n');
    const { documents } = await loadDocuments([path]);
    expect(documents[0]?.blocks).toMatchObject([
      { heading: ['Title'], text: 'First\nsecond', startLine: 3, endLine: 4 },
      { startLine: 6 },
    ]);
  });

  it('shows paths inside the working directory relative to it', async () => {
    const { documents } = await loadDocuments([join(process.cwd(), 'package.json')]);
    expect(documents[0]?.path).toBe('package.json');
  });

  it('reads a file that cannot be parsed as text', async () => {
    const { documents } = await loadDocuments([put('a.json', '{ not json'), put('b.md', `${'> '.repeat(20_000)}deep`)]);
    expect(documents[0]?.blocks).toMatchObject([{ text: '{ not json' }]);
    expect(documents[1]?.blocks.at(-1)?.text).toContain('deep');
  });

  it('does not follow a circular symbolic link', async () => {
    put('a/x.md', 'Text');
    symlinkSync(folder, join(folder, 'a', 'loop'));
    const { documents } = await loadDocuments([folder]);
    expect(documents).toHaveLength(1);
  });

  it.each([
    ['docs', {}, 'paths: expected an array of paths; received "docs".'],
    [['docs', 5], {}, 'paths.1: expected a string; received 5.'],
    [['docs'], { maxBytes: 5 }, 'maxBytes: unknown option; expected one of maxFileBytes, cache.'],
    [['docs'], { maxFileBytes: '2MB' }, 'maxFileBytes: expected a number; received "2MB".'],
    [['docs'], { maxFileBytes: -1 }, 'maxFileBytes: expected a number above 0; received -1.'],
  ])('throws invalid_option for the paths %j and the options %j', async (paths, options, message) => {
    await expect(loadDocuments(paths as never, options as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message,
    });
  });

  it.skipIf(!existsSync('/proc/cpuinfo'))(
    'reads a file of the kernel, which has no size, up to the limit',
    async () => {
      const { documents } = await loadDocuments(['/proc/self/status']);
      expect(documents[0]?.blocks[0]?.text).toContain('Pid:');
      const { skipped } = await loadDocuments(['/proc/self/status'], { maxFileBytes: 100 });
      expect(skipped).toEqual([{ path: '/proc/self/status', reason: 'too large: more than 100 bytes' }]);
    },
  );

  it.skipIf(!isReadable('/proc/kmsg'))('does not wait for the messages of the kernel', async () => {
    const outcome = await loadDocuments(['/proc/kmsg']).catch((error: unknown) => error);
    expect(outcome).toBeDefined();
  });

  it.skipIf(process.platform === 'win32')('refuses a socket, and omits it from a directory', async () => {
    const path = join(folder, 'socket.md');
    const server = createServer().listen(path);
    await once(server, 'listening');
    await expect(loadDocuments([path])).rejects.toMatchObject({ code: 'invalid_path' });
    expect((await loadDocuments([folder])).documents).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(['', 'no/such/file.md', '/dev/null'])('throws invalid_path for the path %j', async (path) => {
    const error = await loadDocuments([path]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PostChainError);
    expect(error).toMatchObject({
      code: 'invalid_path',
      message: expect.stringMatching(/^The path .*expected a readable file or directory/),
    });
  });
});
