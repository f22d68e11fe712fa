import { describe, expect, it } from 'vitest';
import { count, cutEnd, cutStart, oneLine, printable } from '../../../../src/internal/printable.ts';

describe('text made safe to print', () => {
  it.each([
    ['plain text, with ümläuts and 日本', 'plain text, with ümläuts and 日本'],
    ['a\r\nb\rc\td', 'a\nb\nc\td'],
    ['red \u001b[31mtext\u001b[0m', 'red [31mtext[0m'],
    ['\u009b2Jx', '2Jx'],
    ['\u202eabc\u2066', 'abc'],
  ])('prints %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('contains no control characters or bidirectional marks as defined by Unicode', () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');
    const left = [...printable(all)].filter((character) => /[\p{Cc}\p{Bidi_Control}]/u.test(character));
    expect(left).toEqual(['\t', '\n', '\n']);
  });

  it.each([
    ['abc', 3, 'abc', 'abc'],
    ['abcd', 3, 'ab…', '…cd'],
    ['a😀b😀c', 6, 'a😀b…', '…b😀c'],
    ['a😀b😀c', 3, 'a…', '…c'],
    ['abcd', 0, '…', '…'],
  ])('truncates %j to %i characters at its end or start without splitting a character', (text, chars, end, start) => {
    expect([cutEnd(text, chars), cutStart(text, chars)]).toEqual([end, start]);
  });

  it.each([
    [0, '0 tokens'],
    [1, '1 token'],
    [1234567, '1,234,567 tokens'],
  ])('counts %i', (number, text) => {
    expect(count(number, 'token')).toBe(text);
  });

  it('puts text on one line', () => {
    expect(oneLine(' a\n\n b\t c ')).toBe('a b c');
  });
});
