import fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../../src/documents/tokens/count-tokens.ts';
import type { Encoding } from '../../../../src/documents/tokens/encoding.ts';

const SENTENCE = 'The quick brown fox jumps over the lazy dog. ';
const AS_TEXT = { disallowedSpecial: new Set<string>() };

async function tokensOf(text: string, encoding: Encoding = 'o200k_base'): Promise<number> {
  const [count = -1] = await countTokens([text], encoding);
  return count;
}

/** Words, known and unknown, and anything at all; but no byte order mark, which the library drops and OpenAI counts. */
const text = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[A-Za-z']{1,12}[.,;]?$/),
      fc.constantFrom(
        '漢字',
        'naïve',
        '👩‍👩‍👧',
        '\n\n',
        '  ',
        '12345',
        '<|endoftext|>',
        'constructor',
        '\ud83d',
        "they've",
      ),
      fc.string({ maxLength: 12, unit: 'binary' }),
    ),
    { maxLength: 30 },
  )
  .map((words) => words.join(' ').replaceAll('\ufeff', ''));

describe('the tokens of texts', () => {
  // As OpenAI's cookbook says, "How to count tokens with tiktoken".
  it.each([
    ['antidisestablishmentarianism', 6, 6],
    ['2 + 2 = 4', 7, 7],
    ['お誕生日おめでとう', 9, 8],
  ])('are those that OpenAI tells of its two vocabularies: %s [U10]', async (given, older, newer) => {
    expect(await tokensOf(given, 'cl100k_base')).toBe(older);
    expect(await tokensOf(given, 'o200k_base')).toBe(newer);
  });

  it('are as many as the library’s own tokenizer makes of each, in order [U10]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 6 }), async (texts) => {
        expect(await countTokens(texts, 'o200k_base')).toEqual(texts.map((given) => o200k(given, AS_TEXT)));
        expect(await countTokens(texts, 'cl100k_base')).toEqual(texts.map((given) => cl100k(given, AS_TEXT)));
      }),
    );
  });

  it('are none of an empty text, and some of one that spells a control token [U10]', async () => {
    expect(await countTokens(['', 'a', ''], 'o200k_base')).toEqual([0, 1, 0]);
    expect(await tokensOf('<|endoftext|>')).toBeGreaterThan(1);
    expect(await countTokens([], 'o200k_base')).toEqual([]);
  });

  it('are counted of a megabyte of one letter, where merging its pairs one by one would take minutes [U10]', async () => {
    // Eight of them are one token.
    expect(await tokensOf('a'.repeat(400_000))).toBe(50_000);
    expect(await tokensOf('a'.repeat(1_000_000))).toBe(125_000);
  });

  it.each([
    ['spaces', ' '],
    ['line breaks and slashes', '\n/'],
    ['signs', '!—'],
    ['capitals', 'AB'],
    ['letters of a script without spaces', '漢字'],
    ['combining marks', 'e\u0301\u0302'],
    ['halves of characters', '\ud83d'],
  ])('are counted of a long run of %s [U10]', async (_, unit) => {
    const tokens = await tokensOf(`Look: ${unit.repeat(400_000 / unit.length)}`);
    expect(tokens).toBeGreaterThan(1_000);
    expect(tokens).toBeLessThanOrEqual(1_200_010);
  });

  it('are hardly more for a run that is cut [U10]', async () => {
    const letters = 'qwzjkvxypf'.repeat(200);
    const exact = o200k(letters, AS_TEXT);
    expect(await tokensOf(letters)).toBeGreaterThanOrEqual(exact - 8);
    expect(await tokensOf(letters)).toBeLessThanOrEqual(exact + 16);
  });

  it('are told of ten megabytes by samples, within a hundredth for even prose [U10]', async () => {
    const repeats = Math.ceil(10_000_000 / SENTENCE.length);
    const each = (await tokensOf(SENTENCE.repeat(100))) / 100;
    const tokens = await tokensOf(SENTENCE.repeat(repeats));
    expect(Number.isInteger(tokens)).toBe(true);
    expect(Math.abs(tokens / (each * repeats) - 1)).toBeLessThan(0.01);
  });

  it('are told of a long text by twenty windows, spread from its beginning on [U10]', async () => {
    const window = '7'.repeat(24_999);
    const text = Array(20)
      .fill(`${window} ${'a'.repeat(25_000)}`)
      .join('');
    expect(text).toHaveLength(1_000_000);
    // Three digits are one token, and the space is one: nothing of the letters between the windows is counted.
    expect(await tokensOf(text)).toBe(2 * 20 * (8_333 + 1));
  });

  it('leave other work of the program its turn between many long texts [U10]', async () => {
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 0);
    await countTokens(Array(8).fill(SENTENCE.repeat(11_200)), 'o200k_base');
    clearInterval(ticking);
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
