import { describe, expect, it } from 'vitest';
import { readHtml } from '../../../src/documents/read-html.ts';
import { atOnce } from '../../support/at-once.ts';

describe('reading HTML', () => {
  it('returns text with headings and lines, without scripts, styles and navigation', () => {
    const html = `<html><head><title>Page</title><style>p {}</style></head>
<body><nav>Menu</nav><p>Intro &amp; more</p>
<h1>Top</h1><script>var x = '<p>no</p>';</script>
<p>Some <b>bold</b>
text.</p><h2>Sub</h2><div>Deep</div></body></html>`;
    expect(atOnce(readHtml(html))).toMatchObject([
      { text: 'Intro & more', heading: ['Page'], startLine: 2 },
      { text: 'Some bold\ntext.', heading: ['Top'], startLine: 4, endLine: 5 },
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

const textOf = (html: string): string =>
  atOnce(readHtml(html))
    .map(({ text }) => text)
    .join('\n\n');

describe('what a browser does not show', () => {
  it.each([
    ['The fee is <span style="display:none">999</span>120 euros.', 'The fee is 120 euros.'],
    ['<div hidden>no</div><p>yes', 'yes'],
    ['<p>yes<b style="color: red; VISIBILITY : hidden !important">no</b>', 'yes'],
    ['<p aria-hidden="true">no<p>yes', 'yes'],
    ['<p style="display:none; display:block">yes', 'yes'],
    ['<p><span style="font-size:0">no</span><span style="opacity:0.0">no</span><span style="opacity:.5">yes', 'yes'],
    ['<dialog>no</dialog><template>no</template><noscript>no</noscript>yes', 'yes'],
    ['<meter>no</meter><progress>no</progress>yes', 'yes'],
    ['<ul><li hidden>no<li>yes</ul>', '- yes'],
    ['<p style="position:absolute; left:-9999px">no</p><p style="text-indent:-9999px">no</p>yes', 'yes'],
    ['<span style="height:0;overflow:hidden">no</span><span style="color:transparent">no</span>yes', 'yes'],
    ['<span style="clip:rect(0 0 0 0)">no</span><span style="transform:scale(0)">no</span>yes', 'yes'],
    ['<p style="width:0;opacity:0.5;font-size:10px;left:-5px;height:auto">yes', 'yes'],
    [
      '<table><tr><th>a<th hidden>no<th>b<tr hidden><td>no<tr><td>1<td style="display:none">no<td>2</table>',
      '| a | b |\n| --- | --- |\n| 1 | 2 |',
    ],
  ])('is not text: %s', (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe('text with a meaning of its own', () => {
  it.each([
    ['<del>999 euros</del> <ins>120 euros</ins>', '~~999 euros~~ 120 euros'],
    ['<p>a<s> b </s>c <span style="text-decoration: line-through">d</span>', 'a ~~b~~ c ~~d~~'],
    ['<del><p>one</p><ul><li>two</ul></del><p><del></del>three', '~~one~~\n\n- ~~two~~\n\nthree'],
    [
      '10<sup>2</sup> m, note<sup>3</sup>, x<sup>n + 1</sup>, a<sup>[4]</sup>, 1<sup>st</sup>, H<sub>2</sub>O',
      '10^2 m, note^3, x^(n + 1), a[4], 1st, H2O',
    ],
    [
      '1<sup>1</sup>/<sub>2</sub> cup, 1⁄2, 10<sub>2</sub>, log<sub>2</sub>8, a<sup>®</sup>',
      '1 1/2 cup, 1⁄2, 10_2, log2 8, a®',
    ],
    ['<math><msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></math>', 'x^2=1/2'],
    ['<picture><source><img alt="Logo"></picture>Company', 'Logo Company'],
    ['See <img src="x.png" alt="the\nred door"> here.', 'See the red door\nhere.'],
    ['<pre>a<br>b</pre>', 'a\nb'],
    ['<p>one<b\n>two</b>\nthree', 'onetwo\nthree'],
  ])('is kept apart: %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe('a footnote', () => {
  it.each([
    [
      '<p>Fee<sup><a href="#fn1" id="r1">1</a></sup>.<p>More.<ol><li id="fn1">Ten euros. <a href="#r1">Back</a></ol>',
      'Fee [Ten euros.].\n\nMore.',
    ],
    ['<p>Fee<a href="#fn1"><sup>1</sup></a>.<p id="fn1"><sup>1</sup> Ten euros.', 'Fee [Ten euros.].'],
    ['<p>Fee<sup><a href="#fn1">[1]</a></sup>.<p><a name="fn1">[1]</a> Ten euros.', 'Fee [Ten euros.].'],
    [
      '<p>A<sup><a href="#n">*</a></sup>, B<sup><a href="#n">*</a></sup>.<div id="n">* Ten euros.</div>',
      'A [Ten euros.], B [Ten euros.].',
    ],
    [
      '<h2 id="s">Section 5</h2><p>Fee<sup id="r"><a href="#n">1</a></sup>.<p id="n"><a href="#r">a</a> See <a href="#s">section 5</a>. <a href="#x">↩</a>',
      'Fee [See section 5.].',
    ],
    ['<p>Fee<sup><a href="#fn24">24</a></sup>.<p id="fn24">30 euros.', 'Fee [30 euros.].'],
  ])('replaces its references: %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it.each([
    ['<p id="a">Top.<p>Fee<sup><a href="#a">1</a></sup>.', 'Top.\n\nFee^1.'],
    ['<p>Fee<sup><a href="#none">1</a></sup>.<p>Ten.', 'Fee^1.\n\nTen.'],
    ['<p>See <a href="#a">below</a>.<p id="a">Ten.', 'See below.\n\nTen.'],
    ['<p>Fee<sup><a href="#a">1</a></sup>.<h2 id="a">Ten</h2>', 'Fee^1.\n\nTen'],
    ['<p>Fee<sup><a href="#a">1</a></sup>.<table><tr><td id="a">Ten</table>', 'Fee^1.\n\n| Ten |'],
    ['<p hidden>Fee<sup><a href="#a">1</a></sup>.<p id="a">Ten.', 'Ten.'],
    [`<p>Fee<sup><a href="#a">1</a></sup>.<p id="a">${'n'.repeat(1_001)}`, `Fee^1.\n\n${'n'.repeat(1_001)}`],
  ])('otherwise stays where it is: %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it('is repeated only as often as the length of the page allows', () => {
    const html = `${'<sup><a href="#a">1</a></sup> '.repeat(2_000)}<p id="a">${'n'.repeat(900)}`;
    expect(textOf(html).length).toBeLessThan(100_000);
  });
});

describe('the numbers of a list', () => {
  it.each([
    ['<ol start="5"><li>a<li>b</ol>', '5. a\n6. b'],
    ['<ol><li>a<li value="7">b<li>c</ol>', '1. a\n7. b\n8. c'],
    ['<ol reversed><li>a<li>b<li>c</ol>', '3. a\n2. b\n1. c'],
    ['<ol reversed start="10"><li>a<li>b</ol>', '10. a\n9. b'],
    ['<ol type="a" start="26"><li>a<li>b</ol>', 'z. a\naa. b'.replace('aa.', '- aa.')],
    ['<ol type="I" start="4"><li>a<li type="1">b</ol>', 'IV. a\n5. b'],
    ['<ol><li>a<ol start="3" type="i"><li>b</ol><li>c</ol>', '1. a\n  iii. b\n2. c'],
    ['<ol start="-1"><li>a<li>b<li>c</ol>', '-1. a\n0. b\n1. c'],
    ['<ol start="x"><li>a</ol>', '1. a'],
    ['<ol style="list-style-type: lower-alpha"><li>a<li style="list-style: decimal">b</ol>', 'a. a\n2. b'],
    ['<ol style="list-style:upper-roman inside"><li>a</ol>', 'I. a'],
    ['<ol style="list-style-type:decimal-leading-zero"><li>a</ol>', '01. a'],
    ['<ul style="list-style-type:decimal"><li>a</ul><ol style="list-style:none"><li>a</ol>', '1. a\n\n- a'],
    ['<ul><li>a<ul><li>b</ul>more of a<li>c</ul>', '- a\n  - b\n  - more of a\n- c'],
  ])('are those that a browser shows: %s', (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe('the cells of a table', () => {
  const SMALL = '| a | b |\n| --- | --- |\n| 1 | 2 |';
  const head = '<tr><th>Region<th>Product<th>Units';
  const header = '| Region | Product | Units |\n| --- | --- | --- |';
  it.each([
    [
      'of several rows',
      `${head}<tr><td rowspan="2">EU<td>Cable<td>12<tr><td>Hub<td>7`,
      `${header}\n| EU | Cable | 12 |\n| EU | Hub | 7 |`,
    ],
    [
      'of all rows below',
      `${head}<tr><td rowspan="0">EU<td>a<td>1<tr><td>b<td>2<tr><td>c<td>3`,
      `${header}\n| EU | a | 1 |\n| EU | b | 2 |\n| EU | c | 3 |`,
    ],
    [
      'of several columns',
      '<tr><th colspan="2">Size<th>Price<tr><td>1<td>2<td>3',
      '| Size |  | Price |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
    ],
    [
      'of two header rows',
      '<thead><tr><th rowspan="2">Region<th colspan="2">2025<tr><th>Q1<th>Q2</thead><tr><td>EU<td>1<td>2',
      '| Region | 2025 Q1 | 2025 Q2 |\n| --- | --- | --- |\n| EU | 1 | 2 |',
    ],
    ['with bars', '<tr><th>a<th>b<tr><td>x | y<td>z', '| a | b |\n| --- | --- |\n| x \\| y | z |'],
    ['of a header without th', '<thead><tr><td>a<td>b</thead><tr><td>1<td>2', SMALL],
    ['of a header with an empty corner', '<tr><td><th>b<tr><th>1<td>2', '|  | b |\n| --- | --- |\n| 1 | 2 |'],
    ['of a bold header', '<tr><td><p><b>a</b></p><td><strong>b</strong><tr><td>1<td>2', SMALL],
    [
      'of a header of bold style',
      '<tr><td style="font-weight:700">a<td style="font-weight:bold">b<tr><td>1<td>2',
      SMALL,
    ],
    ['of columns with a scope', '<tr><td scope="col">a<td scope="col">b<tr><td>1<td>2', SMALL],
    [
      'of a header with a data cell',
      '<tr><th>a<th>b<td>note<tr><td>1<td>2<td>3',
      '| a | b | note |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
    ],
    ['of rows with several header cells', '<tr><th>a<th>b<td>5<tr><th>c<th>d<td>6', '| a | b | 5 |\n| c | d | 6 |'],
    ['below a title row', '<tr><td colspan="2">Prices<tr><th>a<th>b<tr><td>1<td>2', `Prices\n\n${SMALL}`],
    [
      'of sections below the header',
      '<tr><th>a<th>b<tr><th colspan="2">North<tr><td>1<td>2',
      '| a | b |\n| --- | --- |\n| North |  |\n| 1 | 2 |',
    ],
    ['of header cells alone', '<tr><th>a<th>b<tr><th>1<th>2', SMALL],
    [
      'of a foot above the body',
      '<tfoot><tr><td>sum<td>3</tfoot><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td>2',
      `${SMALL}\n| sum | 3 |`,
    ],
    [
      'around a small table',
      '<tr><th>a<th>b<tr><td>1<td><table><tr><td>x<td>y</table><tr><td>2<td>3',
      '| a | b |\n| --- | --- |\n| 1 | x y |\n| 2 | 3 |',
    ],
    ['below a caption', '<caption>Prices</caption><tr><th>a<tr><td>1', 'Prices\n\n| a |\n| --- |\n| 1 |'],
    ['that ask for more columns than there are', '<tr><td colspan="1000">a<tr><td>1<td>2', '| a |  |\n| 1 | 2 |'],
  ])('%s are in their columns', (_, rows, text) => {
    expect(textOf(`<table>${rows}</table>`)).toBe(text);
  });

  it('that a small page asks for stay few', () => {
    const first = `<tr>${`<td rowspan="60000">${'x'.repeat(90)}`.repeat(99)}`;
    const page = `<table>${first}${'<tr><td>a'.repeat(5_000)}</table>`;
    expect(textOf(page).length).toBeLessThan(3 * page.length);
  });

  it('within a list or another table are a table of their own', () => {
    const table = '<table><tr><th>A<th>B<tr><td>1<td>2</table>';
    const rows = '| A | B |\n| --- | --- |\n| 1 | 2 |';
    expect(textOf(`<ol><li>one${table}<li>two</ol>`)).toBe(`1. one\n\n${rows}\n\n2. two`);
    expect(textOf(`<table><tr><td>Menu<td>${table}</table>`)).toBe(`Menu\n\n${rows}`);
  });
});
