import { describe, expect, it } from 'vitest';
import { excerpt, revealHidden, shortRunId } from '../../../inspector/fold/text.ts';

describe('text from a model', () => {
  it.each([
    ['changes the text direction', 'user\u202egnp.exe', 'user‹U+202E›gnp.exe'],
    ['isolates', 'a\u2066b\u2069', 'a‹U+2066›b‹U+2069›'],
    ['is invisible', 'pass\u200bword\ufeff', 'pass‹U+200B›word‹U+FEFF›'],
    ['controls the terminal', 'a\u001b[31mred\u0007', 'a‹U+001B›[31mred‹U+0007›'],
    ['uses tag characters', 'hi\u{e0041}\u{e0042}', 'hi‹U+E0041›‹U+E0042›'],
    ['contains unusual line separators', 'a\u2028b', 'a‹U+2028›b'],
  ])('is made visible if it %s', (_, text, shown) => {
    expect(revealHidden(text)).toBe(shown);
  });

  it('keeps line breaks, tabs, letters of every script, and emoji', () => {
    const text = 'one\n\ttwo שלום 你好 🙂';
    expect(revealHidden(text)).toBe(text);
  });

  it('is truncated at whole characters, on one line', () => {
    expect(excerpt('one\n two   three', 20)).toBe('one two three');
    expect(excerpt('🙂🙂🙂🙂', 4)).toBe('🙂…');
    expect(excerpt(`one${' '.repeat(90)}two`, 20)).toBe('one…');
    expect(excerpt(`four${' '.repeat(90)}five`, 4)).toBe('fou…');
    expect(excerpt(`${' '.repeat(90)}two`, 20)).toBe('two');
    expect(excerpt(`two${' '.repeat(90)}`, 20)).toBe('two');
    expect(excerpt('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(9)}…`);
  });
});

it('shortens the ids of runs, but not those of actors', () => {
  expect(shortRunId('5138b606-48bc-4e2a-8131-1819065acbed')).toBe('5138b606');
  expect(['refund-102', 'refund-103'].map(shortRunId)).toEqual(['refund-102', 'refund-103']);
});
