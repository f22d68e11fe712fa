import { describe, expect, it } from 'vitest';
import { readHtml } from '../../../src/documents/read-html.ts';
import { atOnce } from '../../../src/internal/async.ts';

describe('reading HTML', () => {
  it('returns text with headings and lines, without scripts, styles and navigation', () => {
    const html = `<html><head><title>Page</title><style>p {}</style></head>
<body><nav>Menu</nav><p>Intro &amp; more</p>
<h1>Top</h1><script>var x = '<p>no</p>';</script>
<p>Some <b>bold</b>
text.</p><h2>Sub</h2><div>Deep</div></body></html>`;
    expect(atOnce(readHtml(html))).toMatchObject([
      { text: 'Intro & more', heading: ['Page'], startLine: 2 },
      { text: 'Some bold\n text.', heading: ['Top'], startLine: 4, endLine: 5 },
      { text: 'Deep', heading: ['Top', 'Sub'], startLine: 5 },
    ]);
  });

  it('returns one line per list item, with the introduction', () => {
    const html = '<p>In order:</p>\n<ol>\n<li>one</li>\n<li>two<ul><li>deep</li></ul></li>\n</ol><p>After</p>';
    expect(atOnce(readHtml(html))).toMatchObject([
      { kind: 'list', text: 'In order:\n1. one\n2. two\n  - deep', lines: [1, 3, 4, 4] },
      { kind: 'prose', text: 'After' },
    ]);
  });

  it('returns one line per table row, with a delimiter row below header cells', () => {
    const html = '<table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>2</td></tr></table>';
    expect(atOnce(readHtml(html))).toMatchObject([
      { kind: 'table', text: '| a | b |\n| --- | --- |\n| 1 | 2 |', lines: [1, 1, 2] },
    ]);
  });

  it('keeps the lines of preformatted text', () => {
    expect(atOnce(readHtml('<p>x</p>\n<pre><code>a = 1\n\n  b &lt; 2</code></pre>'))).toMatchObject([
      { kind: 'prose' },
      { kind: 'code', text: 'a = 1\n\n  b < 2', startLine: 2, endLine: 4 },
    ]);
  });
});
