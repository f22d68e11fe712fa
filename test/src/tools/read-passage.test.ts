import { describe, expect, it, test } from 'vitest';
import type { ParsedDocument } from '../../../src/documents/document.ts';
import { passagesOf } from '../../../src/documents/passages.ts';
import { readMarkdown } from '../../../src/documents/read-markdown.ts';
import { readText } from '../../../src/documents/read-text.ts';
import { checkArguments } from '../../../src/tools/check-arguments.ts';
import { readPassage } from '../../../src/tools/read-passage.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { atOnce } from '../../support/at-once.ts';

const context = {
  signal: new AbortController().signal,
  now: () => 0,
  sessionId: null,
  idempotencyKey: 'run-1.s1.action.1',
};
const guide: ParsedDocument = {
  path: 'docs/guide.md',
  blocks: atOnce(readMarkdown('# Guide\n\nFirst.\nSecond.\n\nThird.\n')),
};
const long: ParsedDocument = {
  path: 'long.txt',
  blocks: atOnce(readText(Array.from({ length: 450 }, (_, at) => `line ${at + 1}`).join('\n'))),
};

const read = (
  args: { path: string; startLine?: number; endLine?: number },
  documents: ParsedDocument[] = [guide, long],
) => readPassage(documents).execute(args, context);
const failure = (...given: Parameters<typeof read>): string => {
  try {
    read(...given);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
};

describe('reading a passage', () => {
  test('[R10] returns numbered lines and the number of lines', () => {
    expect(read({ path: 'docs/guide.md', startLine: 3, endLine: 4 })).toBe(
      'docs/guide.md, lines 3-4 of 6; continues at line 5\n3: First.\n4: Second.',
    );
    expect(read({ path: 'docs/guide.md', startLine: 6, endLine: 6 })).toBe('docs/guide.md, lines 6-6 of 6\n6: Third.');
  });

  it.each<[string, { startLine?: number; endLine?: number }, string]>([
    ['no lines', {}, '1-200 of 450; continues at line 201'],
    ['only a first line', { startLine: 301 }, '301-450 of 450'],
    ['only a last line', { endLine: 3 }, '1-3 of 450; continues at line 4'],
    ['a last line after the end', { startLine: 440, endLine: 99_999 }, '440-450 of 450'],
    ['more lines than the maximum', { startLine: 1, endLine: 450 }, '1-200 of 450; continues at line 201'],
    ['a reversed range', { startLine: 20, endLine: 10 }, '10-20 of 450; continues at line 21'],
    ['lines from 0', { startLine: 0, endLine: 2 }, '1-2 of 450; continues at line 3'],
    ['negative lines', { startLine: -5, endLine: -1 }, '1-1 of 450; continues at line 2'],
    [
      'infinite line numbers',
      { startLine: -Number.MAX_SAFE_INTEGER, endLine: Number.MAX_SAFE_INTEGER },
      '1-200 of 450',
    ],
  ])('[R10] accepts %s', (_, lines, head) => {
    const [first, ...texts] = String(read({ path: 'long.txt', ...lines })).split('\n');
    expect(first).toContain(`long.txt, lines ${head}`);
    const [from = 0, to = 0] = head.split(/\D/).map(Number);
    expect(texts).toEqual(Array.from({ length: to - from + 1 }, (_, at) => `${from + at}: line ${from + at}`));
  });

  it.each([
    './docs/guide.md',
    '/docs/guide.md',
    'docs\\guide.md',
    ' docs//guide.md ',
    'docs/x/../guide.md',
    'docs/guide.md:3-4',
    'docs/guide.md:3',
    'docs/guide.md#L3-L4',
    'guide.md',
  ])('[R10] resolves the path %j', (path) => {
    expect(read({ path, startLine: 3, endLine: 3 })).toContain('docs/guide.md, lines 3-3');
  });

  test('[R7] lists the documents if the path is unknown', () => {
    expect(failure({ path: 'docs/missing.md' })).toBe(
      'unknown document "docs/missing.md"; expected one of: docs/guide.md, long.txt',
    );
    for (const path of ['', ' ', '.', '../docs/guide.md', '/etc/passwd', 'uide.md', '__proto__', 'docs'])
      expect(failure({ path })).toMatch(/^unknown document .*expected one of: docs\/guide.md, long.txt$/);
    const many = Array.from({ length: 30 }, (_, at) => ({ ...guide, path: `${at}/guide.md` }));
    expect(failure({ path: 'guide.md' }, many)).toMatch(/expected one of: 0\/guide.md, .*19\/guide.md, 10 more$/);
    expect(failure({ path: 'a' }, [])).toBe('unknown document "a"; expected one of: none');
    expect(failure({ path: '\u001b[2J\n' }, [])).toBe('unknown document "[2J"; expected one of: none');
  });

  test('[R7] reports the last line if the first line is beyond it', () => {
    expect(failure({ path: 'long.txt', startLine: 451, endLine: 460 })).toBe(
      'long.txt ends at line 450; received startLine 451',
    );
    expect(failure({ path: 'x' }, [{ path: 'x', blocks: [] }])).toBe('x ends at line 0; received startLine 1');
  });

  it('[R10] reports lines without text', () => {
    expect(read({ path: 'docs/guide.md', startLine: 5, endLine: 5 })).toMatch(
      /lines 5-5 of 6.*\nThese lines have no text\.$/,
    );
  });

  it('[R10] returns at most 20,000 characters, in whole lines if possible, and the line to continue at', () => {
    const wide = {
      path: 'wide.txt',
      blocks: atOnce(readText(Array.from({ length: 10 }, () => 'x'.repeat(6_000)).join('\n'))),
    };
    const text = String(read({ path: 'wide.txt' }, [wide]));
    expect(text).toMatch(/^wide\.txt, lines 1-3 of 10; continues at line 4\n/);
    expect(text.length).toBeLessThan(20_100);
    const one = String(read({ path: 'one.txt' }, [{ path: 'one.txt', blocks: atOnce(readText('😀'.repeat(50_000))) }]));
    expect(one).toMatch(/^one\.txt, lines 1-1 of 1\n1: (😀)+… \(cut\)$/u);
  });

  it('[R10] returns every word of every passage found by a search', () => {
    for (const document of [guide, long])
      for (const { source, text } of atOnce(passagesOf(document))) {
        const given = String(read(source));
        for (const word of text.split(/\s+/)) expect(given).toContain(word);
      }
  });

  it('[R2] accepts null for omitted lines, as models write it', async () => {
    const registry = createRegistry([readPassage([guide])]);
    const call = { capability: 'read_passage', arguments: '{"path":"a","startLine":null,"endLine":null}' };
    expect(await checkArguments(registry, call)).toMatchObject({ ok: true });
  });
});
