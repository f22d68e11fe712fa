import { describe, expect, it } from 'vitest';
import { passagesOf } from '../../../src/documents/passages.ts';
import { type Document, readDocument } from '../../../src/documents/read-document.ts';
import { atOnce } from '../../support/at-once.ts';

async function textOf(document: Document): Promise<string> {
  const passages = atOnce(passagesOf(await readDocument(document)));
  return passages.map(({ text, heading }) => [...heading, text].join('\n')).join('\n');
}

describe('a word divided at a line end', () => {
  it.each([
    ['text', 'a.txt', 'The infor-\nmation is free.'],
    ['text with CRLF', 'a.txt', 'The infor-\r\nmation is free.'],
    ['text with a soft hyphen', 'a.txt', 'The infor\u00AD\nmation is free.'],
    ['text with a Unicode hyphen', 'a.txt', 'The infor\u2010\n  mation is free.'],
    ['Markdown', 'a.md', 'The infor-\nmation is free.'],
    ['a list', 'a.md', '- The infor-\n  mation is free.'],
    ['a quote', 'a.md', '> The infor-\n> mation is free.'],
    ['HTML', 'a.html', '<p>The infor-\nmation is free.</p>'],
    ['HTML with a line break', 'a.html', '<p>The infor-<br>mation is free.</p>'],
    ['HTML with a soft hyphen', 'a.html', '<p>The infor&shy;mation is free.</p>'],
    ['HTML with a soft hyphen and a line break', 'a.html', '<p>The infor&shy;\nmation is free.</p>'],
    ['HTML with a place for a break', 'a.html', '<p>The infor<wbr>mation is free.</p>'],
    ['a heading', 'a.html', '<h1>The infor-\nmation is free.</h1><p>x</p>'],
    ['a cell', 'a.html', '<table><tr><td>The infor-\nmation is free.</td></tr></table>'],
    ['JSON', 'a.json', '["The infor-\\nmation is free."]'],
  ])('is one word in %s', async (_, path, text) => {
    expect(await textOf({ path, text })).toContain('The information is free.');
  });

  it.each([
    ['图书馆\n九点开门。', '图书馆九点开门。'],
    ['図書館は、\n九時に開きます。', '図書館は、九時に開きます。'],
    ['ห้องสมุด\nเปิดเก้าโมง', 'ห้องสมุดเปิดเก้าโมง'],
    ['도서관은\n아홉 시에', '도서관은 아홉 시에'],
  ])('needs no hyphen in a script without spaces: %j', async (text, joined) => {
    expect(await textOf({ path: 'a.txt', text })).toBe(joined);
  });

  it.each([
    ['It is self-\nmade.', 'It is self-made.'],
    ['A well-known man. He is well-\nknown.', 'A well-known man. He is well-known.'],
    ['A cost-benefit study. The cost-\nbenefit ratio.', 'A cost-benefit study. The cost-benefit ratio.'],
    ['In East-\nWest talks.', 'In East-West talks.'],
    ['It is state-of-\nthe-art.', 'It is state-of-the-art.'],
    ['Vor- \nund Nachteile.', 'Vor- und Nachteile.'],
    ['From 3-\n5 days, model X-\n100.', 'From 3-5 days, model X-100.'],
  ])('keeps the hyphen of a compound: %j', async (text, joined) => {
    expect(await textOf({ path: 'a.txt', text })).toBe(joined);
  });
});
