import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../src/documents/decode-text.ts';
import { documentsFrom } from '../../../src/documents/read-document.ts';

const TEXT = 'Über 5 €\n図書館 😀';
const utf16 = (bigEndian: boolean): Buffer => {
  const bytes = Buffer.from(TEXT, 'utf16le');
  return bigEndian ? bytes.swap16() : bytes;
};
const utf32 = (bigEndian: boolean): Buffer =>
  Buffer.concat(
    [...TEXT].map((character) => {
      const bytes = Buffer.alloc(4);
      const code = character.codePointAt(0) ?? 0;
      if (bigEndian) bytes.writeUInt32BE(code);
      else bytes.writeUInt32LE(code);
      return bytes;
    }),
  );
const marked = (bom: readonly number[], text: Buffer): Buffer => Buffer.concat([Buffer.from(bom), text]);

describe('the bytes of a text', () => {
  it.each([
    ['utf-8', marked([0xef, 0xbb, 0xbf], Buffer.from(TEXT))],
    ['utf-8', Buffer.from(TEXT)],
    ['utf-16le', marked([0xff, 0xfe], utf16(false))],
    ['utf-16be', marked([0xfe, 0xff], utf16(true))],
    ['utf-16le', utf16(false)],
    ['utf-16be', utf16(true)],
    ['utf-32le', marked([0xff, 0xfe, 0, 0], utf32(false))],
    ['utf-32be', marked([0, 0, 0xfe, 0xff], utf32(true))],
  ])('are read as %s with or without a byte order mark', async (encoding, bytes) => {
    expect(await decodeText(bytes)).toEqual({ text: TEXT, encoding });
  });

  it.each([
    [
      'windows-1252',
      'Die Bücherei öffnet um neun Uhr. Gebühr: 5 €.',
      'RGllIEL8Y2hlcmVpIPZmZm5ldCB1bSBuZXVuIFVoci4gR2Vi/GhyOiA1IIAu',
    ],
    [
      'windows-1250',
      'Kniha stojí deset korun, příliš žluťoučký kůň.',
      'S25paGEgc3Rvau0gZGVzZXQga29ydW4sIHD47WxpmiCebHWdb3Xoa/0ga/nyLg==',
    ],
    ['windows-1251', 'Библиотека открывается в девять часов.', 'wejh6+ju8uXq4CDu8urw++Lg5fLx/yDiIOTl4v/y/CD34PHu4i4='],
    ['koi8-r', 'Библиотека открывается в девять часов.', '4snCzMnP1MXLwSDP1MvS2dfBxdTT0SDXIMTF19HU2CDewdPP1y4='],
    ['windows-1256', 'تفتح المكتبة في التاسعة', 'yt3KzSDH4ePfysjJIN3tIMfhysfT2sk='],
    ['windows-874', 'ห้องสมุดเปิดเก้าโมงเช้า', 'y+nNp8rB2LTgu9S04KHp0uLBp+Cq6dI='],
    ['shift_jis', '図書館は九時に開きます。', 'kH2PkYrZgs2L446egsmKSoKrgtyCt4FC'],
    ['euc-jp', '図書館は九時に開きます。', 'v9698bTbpM+25bv+pMuzq6StpN6kuaGj'],
    ['iso-2022-jp', '図書館は九時に開きます。', 'GyRCP149cTRbJE82ZTt+JEszKyQtJF4kOSEjGyhC'],
    ['gb18030', '图书馆九点开门，停车免费。', 'zbzK6bndvsW147+qw8WjrM2js7XD4rfRoaM='],
    ['big5', '圖書館九點開門，停車免費。', 'uc+u0cBdpEXCSbZ9qvmhQbCxqK6nS7ZPoUM='],
    ['euc-kr', '도서관은 아홉 시에 엽니다.', 'tbW8rbD8wLogvsbIqSC9w7+hIL+xtM+02S4='],
  ])('are read as %s if that is the most plausible encoding: %s', async (_, text, bytes) => {
    expect((await decodeText(Buffer.from(bytes, 'base64')))?.text).toBe(text);
  });

  it.each([
    ['<meta charset="windows-1251">\u00CA\u00E8\u00F2', '<meta charset="windows-1251">Кит'],
    ['<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-7">\u00CD\u00E1\u00E9', 'Ναι'],
    ['<?xml version="1.0" encoding="iso-8859-2"?><p>\u00B1</p>', '<p>ą</p>'],
  ])('are read in the encoding that they declare: %j', async (bytes, end) => {
    expect((await decodeText(Buffer.from(bytes, 'latin1')))?.text.endsWith(end)).toBe(true);
  });

  it('name the encoding of the document if it is not UTF-8', async () => {
    const bytes = Buffer.from('Die B\u00FCcherei \u00F6ffnet um neun.', 'latin1');
    const { documents, skipped } = await documentsFrom([
      { path: 'a.txt', bytes },
      { path: 'b.csv', bytes: utf16(false) },
      { path: 'c.txt', bytes: Buffer.from('UTF-8: ü') },
      { path: 'd.txt', bytes: Buffer.from([1, 0, 2, 3, 0, 0, 0, 9, 200, 0]) },
    ]);
    expect(documents.map(({ encoding }) => encoding)).toEqual(['iso-8859-1', 'utf-16le', undefined]);
    expect(skipped).toMatchObject([{ path: 'd.txt', reason: 'it is binary, or in an unknown encoding' }]);
  });
});
