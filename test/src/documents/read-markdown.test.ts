import { describe, expect, it } from 'vitest';
import { readMarkdown } from '../../../src/documents/read-markdown.ts';
import { atOnce } from '../../support/at-once.ts';

describe('reading Markdown', () => {
  it('returns blocks with their heading path and lines', () => {
    const blocks = atOnce(
      readMarkdown('# A\n\nFirst *line*\nsecond [line](http://x).\n\n## B\n\nText with `code`.\n\n# C\n\nEnd.'),
    );
    expect(blocks).toMatchObject([
      { text: 'First line\nsecond line.', heading: ['A'], startLine: 3, endLine: 4, kind: 'prose' },
      { text: 'Text with `code`.', heading: ['A', 'B'], startLine: 8, endLine: 8 },
      { text: 'End.', heading: ['C'], startLine: 12, endLine: 12 },
    ]);
  });

  it('keeps a list together with the paragraph that introduces it', () => {
    const [block, ...rest] = atOnce(
      readMarkdown('The rules are, in order:\n\n1. first\n   goes on\n2. second\n   - nested'),
    );
    expect(rest).toEqual([]);
    expect(block).toMatchObject({ kind: 'list', startLine: 1, endLine: 6 });
    expect(block?.text).toBe('The rules are, in order:\n1. first\ngoes on\n2. second\n  - nested');
  });

  it('omits front matter and counts its lines', () => {
    expect(atOnce(readMarkdown('---\ntitle: X\ntags: [a]\n---\n\nText.'))).toMatchObject([
      { text: 'Text.', startLine: 6 },
    ]);
    expect(atOnce(readMarkdown('---\n\nText.\n\n---\n'))).toMatchObject([{ text: 'Text.', startLine: 3 }]);
  });

  it('separates tables from paragraphs, and from the prose before them', () => {
    const blocks = atOnce(readMarkdown('Before:\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nx | y\n--- | ---\n3 | 4'));
    expect(blocks).toMatchObject([
      { kind: 'prose', text: 'Before:', startLine: 1, endLine: 1 },
      { kind: 'table', text: '| a | b |\n| --- | --- |\n| 1 | 2 |', startLine: 2, endLine: 4 },
      { kind: 'table', text: '| x | y |\n| --- | --- |\n| 3 | 4 |', startLine: 6, endLine: 8 },
    ]);
  });

  it('refers to the lines of code, not of its fence', () => {
    expect(atOnce(readMarkdown('Text\n\n```ts\nconst a = 1;\n\nrun(a);\n```\n\n    indented'))).toMatchObject([
      { kind: 'prose' },
      { kind: 'code', text: 'const a = 1;\n\nrun(a);', startLine: 4, endLine: 6 },
      { kind: 'code', text: 'indented', startLine: 9, endLine: 9 },
    ]);
  });

  it('reads HTML within Markdown, below the headings', () => {
    const blocks = atOnce(
      readMarkdown('# A\n\n<!-- no -->\n\n<details>\n<summary>More</summary>\n<p>Hidden text</p>\n</details>'),
    );
    expect(blocks).toMatchObject([
      { text: 'More', heading: ['A'], startLine: 6 },
      { text: 'Hidden text', heading: ['A'], startLine: 7 },
    ]);
  });

  it('returns a block for a heading without content', () => {
    expect(atOnce(readMarkdown('# A\n## Lonely\n## B\nText'))).toMatchObject([
      { text: 'Lonely', heading: ['A'], startLine: 2 },
      { text: 'Text', heading: ['A', 'B'] },
    ]);
  });

  it('numbers the lines of a long text correctly', () => {
    const filler = `${'Some words of filler text that go on for a while here.\n'.repeat(20)}\n`;
    const text = Array.from({ length: 300 }, (_, at) => `## Part ${at}\n\n${filler}`).join('');
    const lines = text.split('\n');
    const blocks = atOnce(readMarkdown(text));
    expect(blocks).toHaveLength(300);
    for (const [at, block] of blocks.entries()) {
      expect(lines[block.startLine - 3]).toBe(`## Part ${at}`);
      expect(block.heading).toEqual([`Part ${at}`]);
    }
  });

  it.each([
    ['a comment first', '---\n# generated\ntitle: Demo\n---\nText.'],
    ['keys of any script', '---\n标题: 开放\nüberschrift: x\nзаголовок: y\n"a b": z\n---\nText.'],
    ['items, blank lines and indented values', '---\ntags:\n- a\n\ntext: |\n  one\nlist: [\n  b\n]\n---\nText.'],
    ['JSON', '---\n{\n"title": "x",\n"tags": ["a"]\n}\n---\nText.'],
    ['the end of a YAML document', '---\ntitle: x\n...\nText.'],
    ['TOML', '+++\ntitle = "x"\n[extra]\na = 1\n+++\nText.'],
  ])('omits front matter with %s', (_, text) => {
    expect(atOnce(readMarkdown(text)).map((block) => block.text)).toEqual(['Text.']);
  });

  it.each([
    ['---\nNote: the library opens at nine.\n\nIt closes at five.\n\n---\n\nMore.', 3],
    ['---\n- a\n- b\n---\n', 1],
    ['---\ntitle: not closed\n', 1],
    ['---\nhttp://example.org/\n---\n', 0],
  ])('does not take text between rules for front matter: %j', (text, blocks) => {
    expect(atOnce(readMarkdown(`${text}\n\nEnd.`))).toHaveLength(blocks + 1);
  });

  it.each([
    ['| a | b |\n| - | - |\n| x \\| y | `p \\| q` |', '| a | b |\n| --- | --- |\n| x \\| y | `p \\| q` |'],
    [
      '10<sup>2</sup>, <del>old</del> new,\n<span hidden>no</span>`<b>` &amp; <img alt="door">',
      '10^2, ~~old~~ new,\n`<b>` & door',
    ],
    ['| a |\n| - |\n| one<br>two<sup>2</sup> |', '| a |\n| --- |\n| one two^2 |'],
    ['~~old~~ new', '~~old~~ new'],
    ['5. five\n6. six', '5. five\n6. six'],
  ])('keeps the meaning of %j', (text, expected) => {
    expect(atOnce(readMarkdown(text)).map((block) => block.text)).toEqual([expected]);
  });

  it.each([
    ['a definition far below', '[text][Far] and [far]', 'text and far', '[far]: http://example.org'],
    ['a definition on two lines', '[a b] ![c][D\\]]', 'a b c', '[a\nb]:\n  http://example.org\n[d\\]]: x "y"'],
    ['a target on two lines', 'a [b](c\n"d") e\nf', 'a b\ne\nf', 'End.'],
  ])('reads links with %s', (_, text, expected, definition) => {
    const filler = 'Some words.\n\n'.repeat(1_000);
    expect(atOnce(readMarkdown(`${text}\n\n${filler}${definition}`))[0]?.text).toBe(expected);
  });

  it.each([
    ['Year[^1].\n\n[^1]: 2019', ['Year [2019].']],
    [
      'A[^a], B[^b], A[^a].\n\n[^a]: Ten *euros*.\n[^b]: See [x](y).\n',
      ['A [Ten euros.], B [See x.], A [Ten euros.].'],
    ],
    ['A[^1].\n\n[^1]: One\ntwo\n\n    three\n\nB', ['A [One two three].', 'B']],
    ['A[^1].\n\n[^1]: One\n- b', ['A [One].', '- b']],
    ['- a[^1]\n\n| x[^1] | y |\n| - | - |\n\n[^1]: N', ['- a [N]', '| x [N] | y |\n| --- | --- |']],
    ['A[^1] <b>b</b>.\n\n[^1]: N <i>n</i>', ['A [N n] b.']],
  ])('has the text of a footnote in place of its reference: %j', (text, expected) => {
    expect(atOnce(readMarkdown(text)).map((block) => block.text)).toEqual(expected);
  });

  it.each([
    ['A.\n\n[^fee]: Ten euros.', ['A.', '[^fee]: Ten euros.']],
    ['A[^b].\n\n[^fee]: 10', ['A[^b].', '[^fee]: 10']],
    ['`[^1]`\n\n[^1]: N', ['`[^1]`', '[^1]: N']],
    ['A[^1]\n\n[^1]: N\n[^1]: M', ['A [N]', '[^1]: M']],
    ['A[^1]\n\n```\n[^1]: N\n```', ['A[^1]', '[^1]: N']],
    [`A[^1]\n\n[^1]: ${'n '.repeat(600)}`, ['A[^1]', `[^1]: ${'n '.repeat(600).trim()}`]],
  ])('keeps other footnotes: %j', (text, expected) => {
    expect(atOnce(readMarkdown(text)).map((block) => block.text)).toEqual(expected);
  });

  it('repeats a footnote only as often as the length of the text allows', () => {
    const blocks = atOnce(readMarkdown(`${'[^1] '.repeat(2_000)}\n\n[^1]: ${'n'.repeat(900)}`));
    expect(blocks.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(40_000);
  });

  it.each([
    ['Use the <select> element or <SCRIPT> here.', 'Use the <select> element or <SCRIPT> here.'],
    ['<title> is required.', '<title> is required.'],
    ['Before <video src="x"> after.', 'Before after.'],
    ['Before <script>no</script> after.', 'Before after.'],
    ['A `<style>` and <b>b</b> c.', 'A `<style>` and b c.'],
  ])('shows what follows an unclosed tag: %j', (text, expected) => {
    expect(atOnce(readMarkdown(text)).map((block) => block.text)).toEqual([expected]);
  });

  it.each([
    ['`a\nb` c\nd', '`a\nb` c\nd'],
    ['x `` `a\nb` `` c\n<b>d</b>', 'x ``a\nb`` c\nd'],
  ])('knows the lines of wrapped code: %j', (text, expected) => {
    expect(atOnce(readMarkdown(text))).toMatchObject([
      { text: expected, lines: expected.split('\n').map((_, at) => at + 1) },
    ]);
  });

  it.each([
    ['table', '| a | b |\n| --- | --- |', (at: number) => `| row ${at} | some words that fill it |`, 1_000],
    ['HTML table', '<table>\n<tr><th>a<th>b</tr>', (at: number) => `<tr><td>row ${at}<td>some words</tr>`, 1_000],
    ['list', '1. one', (at: number) => `\n   row ${at}\n\n   - some words that fill it`, 1_000],
    ['list of items', 'The rules:\n', (at: number) => `${at}. [row ${at}][x]\n\n       code`, 1_000],
    ['quote', '> one', (at: number) => `> - row ${at}\n>\n>   some words that fill it`, 1_000],
    ['fence', '```', (at: number) => `row ${at}\n\n# no heading`, 1_000],
  ])('does not divide a long %s', (_, start, row, rows) => {
    const body = Array.from({ length: rows }, (_, at) => row(at)).join('\n');
    const blocks = atOnce(readMarkdown(`${start}\n${body}`));
    expect(blocks.map(({ text }) => text.match(/row \d+/g)?.length)).toContain(rows);
    expect(blocks.length).toBeLessThanOrEqual(2);
  });
});
