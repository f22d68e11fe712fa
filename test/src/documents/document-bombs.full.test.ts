import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../../../src/documents/load-documents.ts';
import { readHtml } from '../../../src/documents/read-html.ts';
import { readJson } from '../../../src/documents/read-json.ts';
import { readMarkdown } from '../../../src/documents/read-markdown.ts';
import { readText } from '../../../src/documents/read-text.ts';
import { atOnce } from '../../support/at-once.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { operationsOf } from '../../support/operation-count.ts';
import { turnsDuring } from '../../support/turns.ts';

const repeated = (unit: string) => (chars: number) => unit.repeat(Math.ceil(chars / unit.length));
const nestedJson = (chars: number) => {
  const depth = Math.ceil(chars / 12);
  return `${'{"b":1,"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
};

/** Texts of about as many characters as asked for. Markdown paragraphs are parsed in pieces of up to 10,000 characters. */
const BOMBS = {
  'loose nested lists': { read: readMarkdown, chars: 10_000, text: repeated('- a\n\n  - b\n') },
  'lists with setext headings': { read: readMarkdown, chars: 10_000, text: repeated('- a\n  ---\n') },
  'numbered lists in numbered lists': { read: readMarkdown, chars: 10_000, text: repeated('1. ') },
  'link definitions': { read: readMarkdown, chars: 10_000, text: repeated('[a]: b\n') },
  'open brackets': { read: readMarkdown, chars: 10_000, text: repeated('![a](') },
  emphasis: { read: readMarkdown, chars: 10_000, text: repeated('*_a') },
  'nested block quotes': { read: readMarkdown, chars: 10_000, text: repeated('> ') },
  'paragraphs below nested block quotes': {
    read: readMarkdown,
    chars: 10_000,
    text: repeated(`${'> '.repeat(60)}a\nb\n\n`),
  },
  'code fences': { read: readMarkdown, chars: 10_000, text: repeated('~~~\na\n') },
  'tags without an end': { read: readMarkdown, chars: 10_000, text: repeated('<script><title>\n') },
  'nested HTML elements': { read: readHtml, chars: 10_000, text: repeated('<div>') },
  'nested HTML lists': { read: readHtml, chars: 10_000, text: repeated('<ul><li>a') },
  'nested JSON objects': { read: readJson, chars: 3_000, text: nestedJson },
  'paragraphs of one letter': { read: readText, chars: 3_000, text: repeated('a\n\n') },
};

describe('hostile documents', () => {
  it.each(Object.entries(BOMBS))('%s are read in linear time', async (_, { read, chars, text }) => {
    const [small, large] = [text(chars), text(8 * chars)];
    atOnce(read(text(500)));
    const ratios: number[] = [];
    // V8 sometimes discards compiled code and then counts too few operations, so the best of three measurements counts.
    for (let measured = 0; measured < 3 && !ratios.some((ratio) => ratio < 12); measured += 1) {
      const few = await operationsOf(() => atOnce(read(small)));
      ratios.push((await operationsOf(() => atOnce(read(large)))) / few);
    }
    // Linear is 8 times as many operations, quadratic 64 times; the loops that V8 has not seen before cost extra.
    expect(Math.min(...ratios)).toBeLessThan(12);
  });

  it.each([
    ['lists.md', repeated('- a\n\n  - b\n')(200_000)],
    ['page.html', repeated('<p>one</p>\n')(200_000)],
    ['data.json', JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ at })))],
    ['notes.txt', repeated('a\n\n')(200_000)],
  ])('%s of 200,000 characters lets timers fire while it is read', async (name, text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), text);
    expect(await turnsDuring(() => loadDocuments([folder]))).toBeGreaterThan(10);
  });

  it('short table rows are padded only up to a limit', () => {
    const table = `|${'a|'.repeat(300)}\n|${'-|'.repeat(300)}\n${'|a\n'.repeat(200)}\n`;
    const blocks = atOnce(readMarkdown(table.repeat(20)));
    expect(blocks[0]?.text.split('\n')).toHaveLength(202);
    expect(blocks.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(1_000_000);
  });

  it.each(['<div>', '<ul><li>', '<table><tr><td>', '<title>Title</title><h1>'])(
    'text below 10,000 open %s is kept',
    (tags) => {
      const text = atOnce(readHtml(`<p>before</p>${tags.repeat(10_000)}after`))
        .map((block) => block.text)
        .join('\n');
      expect(text.startsWith('before')).toBe(true);
      expect(text.includes('after')).toBe(true);
    },
  );

  it.each(['> ', '- ', '1. ', '  - '])('text below 500 markers %j is kept', (marker) => {
    const nested = marker.startsWith(' ')
      ? Array.from({ length: 100 }, (_, depth) => `${'  '.repeat(depth)}- level ${depth}`).join('\n')
      : `${marker.repeat(500)}level 99`;
    const text = atOnce(readMarkdown(`# Title\n\nbefore\n\n${nested}`));
    expect(text.map((block) => block.heading[0])).toEqual(text.map(() => 'Title'));
    expect(text.map((block) => block.text).join('\n')).toMatch(/before[\s\S]*level 99/);
  });
});
