import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeBetween, fingerprint } from '../../../machines/policies/assessment.ts';
import { anyText } from '../../support/arbitraries.ts';

const words = fc.array(fc.stringMatching(/^[a-z0-9]{1,8}$/), { minLength: 1, maxLength: 12 });
const gaps = fc.array(fc.constantFrom(' ', '  ', '\n', '\t', ', ', '. ', ' - '), { minLength: 12, maxLength: 12 });

describe('the change between two answers', () => {
  it('[Y2] is in 0..1, symmetric, and zero for equal answers', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const change = changeBetween(a, b);
        expect(change).toBeGreaterThanOrEqual(0);
        expect(change).toBeLessThanOrEqual(1);
        expect(changeBetween(b, a)).toBe(change);
        expect(changeBetween(a, a)).toBe(0);
      }),
    );
  });

  it.each([
    ['', '', 0],
    ['', 'a word', 1],
    ['one two', 'three four', 1],
    ['In 1932.', 'in  1932', 0],
    ['a b c', 'a b d', 0.5],
  ])('[Y2] from "%s" to "%s" is %d', (a, b, wanted) => {
    expect(changeBetween(a, b)).toBe(wanted);
  });

  it('[Y2] detects a changed number with a decimal point', () => {
    expect(changeBetween('It is 3.5.', 'It is 5.3.')).toBeGreaterThan(0);
  });

  it('[Y2] detects a changed word in a script with vowel signs', () => {
    expect(changeBetween('की', 'का')).toBe(1);
  });
});

describe('the fingerprint of a text', () => {
  it('[Y7] ignores case, spacing, and punctuation', () => {
    fc.assert(
      fc.property(words, gaps, (given, between) => {
        const plain = given.join(' ');
        const other = given.map((one, at) => one.toUpperCase() + (between[at] ?? ' ')).join('');
        expect(fingerprint(other)).toBe(fingerprint(plain));
      }),
    );
  });

  it('[Y7] differs for other words, another order, and joined words', () => {
    const texts = ['bridge opened', 'opened bridge', 'bridgeopened', 'bridge', 'opened', '', 'bridge opened opened'];
    expect(new Set(texts.map(fingerprint)).size).toBe(texts.length);
  });

  it('[Y7] rarely collides for different texts', () => {
    const prints = Array.from({ length: 2_000 }, (_, at) => fingerprint(`answer number ${at}`));
    expect(new Set(prints).size).toBe(prints.length);
  });

  it('[Y7] has eight hexadecimal digits for any text', () => {
    fc.assert(fc.property(anyText, (text) => /^[0-9a-f]{8}$/.test(fingerprint(text))));
  });

  it('[Y7] differs for words that differ in a vowel sign', () => {
    expect(fingerprint('की')).not.toBe(fingerprint('का'));
  });
});
