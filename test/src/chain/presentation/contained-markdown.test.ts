import { describe, expect, it } from 'vitest';
import { containedMarkdown } from '../../../../src/chain/presentation/answer-as-markdown.ts';

const block = (text: string, fence = '```'): string => `${fence}text\n${text}\n${fence}`;

describe('Markdown contained in a page', () => {
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
  ])('leaves %j unchanged', (text) => {
    expect(containedMarkdown(text)).toBe(text);
  });

  it.each([
    ['headings, moved down together', '# A\n\n## B\n\n### C', '### A\n\n#### B\n\n##### C'],
    ['headings, down to the last level', '# A\n\n##### B', '### A\n\n###### B'],
    ['underlined headings', 'A\nb\n===\n\nC\n---', '### A b ###\n\n#### C ####'],
    ['a heading that looks like one of ours', 'a\n\n## Sources\n\n- `b`', 'a\n\n### Sources\n\n- `b`'],
    ['inline HTML as text', 'a <b onclick="x()">c</b> d<br/>', 'a \\<b onclick="x()">c\\</b> d\\<br/>'],
    ['HTML in a list and in a table as text', '- <i>a</i>\n\n| <b> |\n| --- |', '- \\<i>a\\</i>\n\n| \\<b> |\n| --- |'],
    ['a block of HTML as text', '<details>\n<summary>a</summary>\n\nb', '\\<details>\n\\<summary>a\\</summary>\n\nb'],
    ['an unclosed comment', 'a\n\n<!-- b\n\n# c', 'a\n\n\\<!-- b\n\n### c'],
    ['escaped text within HTML', '<div>\n\\<script>', '\\<div>\n\\\\\\<script>'],
    ['a link to code as text', '[a](javascript:b) and [c](d.md:12)', '\\[a](javascript:b) and [c](d.md:12)'],
    [
      'a link in disguise',
      '[a](<java&#10;script:b>) [c](JAVA&Tab;SCRIPT&colon;d)',
      '\\[a](<java&#10;script:b>) \\[c](JAVA&Tab;SCRIPT&colon;d)',
    ],
    [
      'an address and a definition',
      '<vbscript:a>\n\n> [b]\n>\n> [b]: data:text/html,c',
      '\\<vbscript:a>\n\n> [b]\n>\n> \\[b]: data:text/html,c',
    ],
    ['a picture in a link', '[![a](data:b)](javascript:c)', '\\[\\!\\[a](data:b)](javascript:c)'],
    ['a picture of another site', 'a ![b](https://c.d/e)', 'a \\![b](https://c.d/e)'],
    ['a picture by reference, after marks', '!![a][b]\n\n[b]: //c.d', '!\\![a][b]\n\n[b]: //c.d'],
    ['unclosed code by closing it', '```js\nlet a;', '```js\nlet a;\n```'],
    ['unclosed code with its own fence', '~~~~\n```\n~~~', '~~~~\n```\n~~~\n~~~~'],
    ['unclosed code, ignoring a fence that is indented too far', '```\n    ```', '```\n    ```\n```'],
    ['unclosed code without content', 'a\n\n```', 'a\n\n```\n```'],
  ])('contains %s', (_, text, contained) => {
    expect(containedMarkdown(text)).toBe(contained);
  });

  it.each([
    ['too long', `${'word '.repeat(20_001)}`],
    ['with too many lines', 'a\n'.repeat(5_001).trimEnd()],
    ['nested too often', '- - a\n'.repeat(501).trimEnd()],
    ['quoted too deeply', '>'.repeat(1_001)],
    ['with too much markup in one paragraph', '**x '.repeat(1_001)],
  ])('puts a text %s to parse into a code block', (_, text) => {
    expect(containedMarkdown(text)).toBe(block(text));
  });

  it('parses thematic breaks and many paragraphs as usual', () => {
    const text = `${'-'.repeat(80)}\n\n${`*a* \`b\` [c](d)\n\n`.repeat(250)}`;
    expect(containedMarkdown(text)).toBe(text);
  });

  it('does not let backticks end the code block early', () => {
    const text = `${'>'.repeat(1_001)}\n\`\`\`\`\n</pre>`;
    expect(containedMarkdown(text)).toBe(block(text, '`````'));
  });
});
