import { describe, expect, it } from 'vitest';
import { containedMarkdown } from '../../../../src/engine/presentation/answer-as-markdown.ts';

const block = (text: string, fence = '```'): string => `${fence}text\n${text}\n${fence}`;

describe('Markdown that keeps to its place on a page', () => {
  it.each([
    ['Plain *words*, `code`, [links](https://a.b) and <https://a.b>.'],
    ['- a\n  - b\n\n1. c\n\n> d\n\n| a | b |\n| - | - |\n| `c` | d |'],
    ['```ts\nconst a: Array<string> = [];\n# no heading\n```\n\nThen `Promise<void>`, and a < b > c.'],
    ['    indented <b>code</b>'],
    ['### Third\n\n#### Fourth'],
    ['> # In a quotation\n\n- # In a list'],
    ['1. Install:\n   ```sh\n   npm i\n   ```\n2. Run.'],
    ['a\n\n---\n\nb'],
    ['- ```\n  left open in a list'],
  ])('leaves %j as it is', (text) => {
    expect(containedMarkdown(text)).toBe(text);
  });

  it.each([
    ['headings are moved down together', '# A\n\n## B\n\n### C', '### A\n\n#### B\n\n##### C'],
    ['no further than there are levels', '# A\n\n##### B', '### A\n\n###### B'],
    ['underlined headings, too', 'A\nb\n===\n\nC\n---', '### A b ###\n\n#### C ####'],
    ['and one that looks like our own', 'a\n\n## Sources\n\n- `b`', 'a\n\n### Sources\n\n- `b`'],
    ['inline HTML is text', 'a <b onclick="x()">c</b> d<br/>', 'a \\<b onclick="x()">c\\</b> d\\<br/>'],
    ['in a list and in a table', '- <i>a</i>\n\n| <b> |\n| --- |', '- \\<i>a\\</i>\n\n| \\<b> |\n| --- |'],
    ['a block of HTML is text', '<details>\n<summary>a</summary>\n\nb', '\\<details>\n\\<summary>a\\</summary>\n\nb'],
    ['a comment that is never closed', 'a\n\n<!-- b\n\n# c', 'a\n\n\\<!-- b\n\n### c'],
    ['what was escaped within HTML', '<div>\n\\<script>', '\\<div>\n\\\\\\<script>'],
    ['code left open is closed', '```js\nlet a;', '```js\nlet a;\n```'],
    ['by its own mark', '~~~~\n```\n~~~', '~~~~\n```\n~~~\n~~~~'],
    ['and not by one that stands too far in', '```\n    ```', '```\n    ```\n```'],
    ['even with nothing in it', 'a\n\n```', 'a\n\n```\n```'],
  ])('%s', (_, text, contained) => {
    expect(containedMarkdown(text)).toBe(contained);
  });

  it.each([
    ['too long', `${'word '.repeat(20_001)}`],
    ['of too many lines', 'a\n'.repeat(5_001).trimEnd()],
    ['nested too often', '- - a\n'.repeat(501).trimEnd()],
    ['quoted too deep', '>'.repeat(1_001)],
    ['of too many marks in one paragraph', '**x '.repeat(1_001)],
  ])('a text %s to be read stands in a code block', (_, text) => {
    expect(containedMarkdown(text)).toBe(block(text));
  });

  it('rules and many paragraphs are no reason for that', () => {
    const text = `${'-'.repeat(80)}\n\n${`*a* \`b\` [c](d)\n\n`.repeat(250)}`;
    expect(containedMarkdown(text)).toBe(text);
  });

  it('no backticks end the code block early', () => {
    const text = `${'>'.repeat(1_001)}\n\`\`\`\`\n</pre>`;
    expect(containedMarkdown(text)).toBe(block(text, '`````'));
  });
});
