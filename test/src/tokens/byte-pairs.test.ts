import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytePairs } from '../../../src/tokens/byte-pairs.ts';

/** The 256 bytes, then these tokens in the order of their ranks. */
const vocabulary = (...tokens: readonly (string | readonly number[])[]) => [
  ...Array.from({ length: 256 }, (_, byte) => (byte < 128 ? String.fromCharCode(byte) : [byte])),
  ...tokens,
];
const WHOLE = /[\s\S]+/gu;

const count = (text: string, ...tokens: readonly (string | readonly number[])[]): number =>
  bytePairs(vocabulary(...tokens), WHOLE)()(text);

describe('byte pairs', () => {
  it.each([
    ['abc', [], 3],
    ['abc', ['ab'], 2],
    ['abc', ['ab', 'abc'], 1],
    ['abcd', ['bc', 'ab', 'cd'], 3],
    ['abcd', ['ab', 'bc', 'cd'], 2],
    ['aaaa', ['aa', 'aaa'], 2],
    ['aaaaa', ['aa', 'aaa'], 2],
    ['aaab', ['aa', 'ab'], 2],
    ['', ['ab'], 0],
  ] as const)('of %j are merged by the ranks of %j, the lowest and leftmost first [U10]', (text, tokens, wanted) => {
    expect(count(text, ...tokens)).toBe(wanted);
  });

  it('are pairs of bytes, not of characters [U10]', () => {
    expect(count('é')).toBe(2);
    expect(count('é', 'é')).toBe(1);
    expect(count('😀')).toBe(4);
    expect(count('😀', [0xf0, 0x9f], [0x98, 0x80])).toBe(2);
    // A token that begins in one character and ends in the next.
    expect(count('éé', [0xa9, 0xc3])).toBe(3);
    // A byte order mark is a character like any other.
    expect(count('x\ufeff', [0xef, 0xbb], [0xef, 0xbb, 0xbf])).toBe(2);
    // Half a character is what UTF-8 puts in its place.
    expect(count('\ud83d', '\ufffd')).toBe(3);
    expect(count('\ud83dx', [0xef, 0xbf], '\ufffd')).toBe(2);
    // The byte 0xE9 is not the letter of that code.
    expect(count('xé', [0xc3, 0xa9], 'xé')).toBe(1);
    expect(count('\u00e9\u00e9', 'x\u00e9')).toBe(4);
  });

  it('are counted piece by piece, and not across pieces [U10]', () => {
    expect(count('ab ab', 'b ')).toBe(4);
    const counter = bytePairs(vocabulary('b '), /\s?\S+/gu)();
    expect(counter('ab ab')).toBe(2 + 3);
    expect(counter('   ')).toBe(0);
  });

  it('are counted the same again, whatever was counted before [U10]', () => {
    const make = bytePairs(vocabulary('ab', 'ba', 'aba', 'é'), /\s?\S+/gu);
    const word = fc.stringMatching(/^[abé]{1,6}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const counter = make();
        const total = words.reduce((sum, each) => sum + make()(each), 0);
        expect(words.reduce((sum, each) => sum + counter(each), 0)).toBe(total);
      }),
    );
  });

  it('of a piece of more than 256 characters are counted in parts of 256 [U10]', () => {
    const tokens = ['aa', 'aaaa'.repeat(64), 'a'.repeat(512)];
    expect(count('a'.repeat(256), ...tokens)).toBe(1);
    expect(count('a'.repeat(512), ...tokens)).toBe(2);
    expect(count('a'.repeat(513), ...tokens)).toBe(3);
  });
});
