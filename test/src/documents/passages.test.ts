import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passagesOf } from '../../../src/documents/passages.ts';
import { readHtml } from '../../../src/documents/read-html.ts';
import { readMarkdown } from '../../../src/documents/read-markdown.ts';
import { readText } from '../../../src/documents/read-text.ts';
import { atOnce } from '../../support/at-once.ts';

const passages = (markdown: string) => atOnce(passagesOf({ path: 'a.md', blocks: atOnce(readMarkdown(markdown)) }));
const word = fc.stringMatching(/^[a-z]{3,9}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => `${words.join(' ')}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 20 }).map((sentences) => sentences.join('\n'));
const item = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => `- ${words.join(' ')}`);
const list = fc.array(item, { minLength: 1, maxLength: 30 }).map((items) => items.join('\n'));
const heading = word.map((title) => `## ${title}`);
const code = fc.array(word, { minLength: 1, maxLength: 9 }).map((lines) => `\`\`\`\n${lines.join('\n\n')}\n\`\`\``);
const row = fc.tuple(word, word).map(([left, right]) => `| ${left} | ${right} |`);
const table = fc
  .array(row, { minLength: 1, maxLength: 90 })
  .map((rows) => `| key | value |\n| --- | --- |\n${rows.join('\n')}`);
const markdown = fc
  .array(fc.oneof(paragraph, list, heading, code, table), { maxLength: 12 })
  .map((parts) => parts.join('\n\n'));
const wordsOf = (text: string) => text.match(/[a-z]{3,}/g) ?? [];

describe('passages', () => {
  it('have headings of at most 300 characters; a longer one is text', () => {
    const long = 'one long heading '.repeat(1_000);
    const read = passages(`# Loans\n\n## ${long}\n\nLost books cost ten euros.`);
    expect(read.map(({ heading }) => heading)).toEqual(read.map(() => ['Loans']));
    expect(read.map(({ text }) => text).join(' ')).toContain('Lost books cost ten euros.');
    expect(
      read
        .map(({ text }) => text)
        .join(' ')
        .split('long heading'),
    ).toHaveLength(1_001);
  });

  it('have at most 10 headings of at most 300 characters, whatever the blocks have', () => {
    const block = { text: 'x', startLine: 1, endLine: 1, kind: 'prose', lines: [1] } as const;
    const heading = Array.from({ length: 50 }, (_, at) => `${at} ${'a'.repeat(1_000)}`);
    const [passage] = atOnce(passagesOf({ path: 'a', blocks: [{ ...block, heading }] }));
    expect(passage?.heading.map((text) => text.length)).toEqual(Array(10).fill(300));
    expect(passage?.heading[9]).toMatch(/^49 a+…$/u);
  });

  it('keep the language of a fence, also within a list', () => {
    expect(passages('Run:\n\n```sh title="x"\nnpm test\n```')[0]?.text).toBe('Run:\n\n```sh\nnpm test\n```');
    expect(passages('- run:\n\n  ```sh\n  npm test\n  ```\n- done')[0]?.text).toBe(
      '- run:\n```sh\nnpm test\n```\n- done',
    );
  });

  it('fence code with more backticks than are in it, and keep the lines of code in a list apart', () => {
    const code = '````md\n```js\nrun();\n```\n````';
    expect(passages(code)[0]?.text).toBe(code);
    expect(passages('- a\n\n  ````md\n  ```\n  x\n  y\n  ```\n  ````\n- b')[0]?.text).toBe(
      '- a\n````md\n```\nx\ny\n```\n````\n- b',
    );
  });

  it('join a list with the paragraph before it only if that ends with a colon', () => {
    expect(passages('The rules are:\n\n- x\n- y')[0]?.text).toBe('The rules are:\n- x\n- y');
    expect(passages('规则如下：\n\n- x')[0]?.text).toBe('规则如下：\n- x');
    expect(passages('A paragraph about pumps.\n\n- x\n- y')[0]?.text).toBe('A paragraph about pumps.\n\n- x\n- y');
  });

  it('merge small adjacent blocks under the same heading, and never across headings', () => {
    const made = passages('# A\n\nOne.\n\nTwo.\n\n- x\n\n# B\n\nThree.');
    expect(made).toMatchObject([
      { text: 'One.\n\nTwo.\n\n- x', heading: ['A'], source: { startLine: 3, endLine: 7 } },
      { text: 'Three.', heading: ['B'], id: 'a.md#L11-L11' },
    ]);
  });

  it('cut a long paragraph after sentences and keep the line numbers', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `Sentence number ${at} stands in its own line of the file.`);
    for (const { text, source } of passages(lines.join('\n'))) {
      expect(text).toMatch(/^Sentence .*\.$/);
      expect(text).toContain(lines[(source.startLine ?? 0) - 1]);
      expect(text.endsWith(lines[(source.endLine ?? 0) - 1] ?? '?')).toBe(true);
    }
  });

  it('put the introduction of a long table or list above its later parts, and mark a list that continues', () => {
    const rows = Array.from({ length: 60 }, (_, at) => `| item ${at} | a value that takes some room in its row |`);
    expect(passages(`# T\n\n| name | value |\n| --- | --- |\n${rows.join('\n')}`).at(-1)?.heading).toEqual([
      'T',
      'name / value',
    ]);
    const items = Array.from({ length: 60 }, (_, at) => `- item ${at} that takes some room in its line`);
    const parts = passages(`The rules are:\n\n${items.join('\n')}`);
    expect(parts.at(-1)?.heading).toEqual(['The rules are:']);
    expect(parts.map(({ text }) => text.endsWith('\n…'))).toEqual([...parts.slice(1).map(() => true), false]);
  });

  it('repeat the parent item above a later part of its nested list', () => {
    const items = Array.from({ length: 60 }, (_, at) => `  - fruit ${at} with some words to fill its line`);
    const made = passages(
      `# Shop\n\nWe have:\n\n- bread\n- fruits:\n${items.join('\n')}\n- cheese ${'x '.repeat(800)}`,
    );
    expect(made.find(({ text }) => text.includes('fruit 59'))?.heading).toEqual(['Shop', 'We have:', 'fruits:']);
    expect(made.at(-1)?.heading.slice(0, 2)).toEqual(['Shop', 'We have:']);
    expect(made.at(-1)?.heading[2]).toMatch(/^cheese x/);
  });

  it('put a wide header above the later parts of a table in a short form', () => {
    const names = ['name', 'value', ...Array.from({ length: 6 }, (_, at) => `a descriptive name of the column ${at}`)];
    const rows = Array.from({ length: 60 }, (_, at) => `| City${at} | ${'x | '.repeat(7)}`);
    const last = passages(`| ${names.join(' | ')} |\n|${' - |'.repeat(8)}\n${rows.join('\n')}`).at(-1);
    expect(last?.text).toContain('City59');
    expect(last?.heading[0]).toMatch(/^name \/ value \/ a descriptive name/);
    expect(last?.heading[0]?.split(' / ')).toHaveLength(8);
    expect(last?.heading[0]?.length).toBeLessThanOrEqual(240);
  });

  it('refer to the lines of their text, contain every word once, and have unique ids', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const lines = text.split('\n');
        const made = passages(text);
        for (const { text: passage, source } of made) {
          const there = lines.slice((source.startLine ?? 0) - 1, source.endLine).join('\n');
          expect(wordsOf(there).join(' ')).toContain(wordsOf(passage).join(' '));
        }
        const body = lines.filter((line) => !line.startsWith('#')).join('\n');
        const held = new Set(made.flatMap((passage) => wordsOf(passage.text)));
        expect(wordsOf(body).every((one) => held.has(one))).toBe(true);
        expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
      }),
    );
  });

  it('stay within bounds for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 4_000 }),
        fc.constantFrom(readMarkdown, readHtml, readText),
        (raw, read) => {
          const text = raw.replace(/\r\n?/g, '\n');
          const blocks = atOnce(read(text));
          for (const block of blocks) expect(block.lines).toHaveLength(block.text.split('\n').length);
          for (const passage of atOnce(passagesOf({ path: 'x', blocks }))) {
            expect(passage.text.trim()).not.toBe('');
            expect(passage.text.length).toBeLessThanOrEqual(1_210);
            expect(passage.source.startLine).toBeGreaterThanOrEqual(1);
            expect(passage.source.endLine).toBeGreaterThanOrEqual(passage.source.startLine ?? 0);
            expect(passage.source.endLine).toBeLessThanOrEqual(text.split('\n').length);
          }
        },
      ),
    );
  });
});
