import fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { countTokens, type Encoding, encodingOf } from '../../../src/models/openai/count-tokens.ts';

const SENTENCE = 'The quick brown fox jumps over the lazy dog. ';
const AS_TEXT = { disallowedSpecial: new Set<string>() };

async function tokensOf(text: string, encoding: Encoding = 'o200k_base'): Promise<number> {
  const [count = -1] = await countTokens([text], encoding);
  return count;
}

/** Common and rare words and random strings, without byte order marks, which the library drops and OpenAI counts. */
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

describe('counting tokens', () => {
  it('returns the library’s count for each text, in order [U10]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 6 }), async (texts) => {
        expect(await countTokens(texts, 'o200k_base')).toEqual(texts.map((given) => o200k(given, AS_TEXT)));
        expect(await countTokens(texts, 'cl100k_base')).toEqual(texts.map((given) => cl100k(given, AS_TEXT)));
      }),
    );
  });

  it('counts a megabyte of one letter, for which merging pair by pair would take minutes [U10]', async () => {
    // Eight letters are one token.
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
  ])('counts a long run of %s [U10]', async (_, unit) => {
    const tokens = await tokensOf(`Look: ${unit.repeat(400_000 / unit.length)}`);
    expect(tokens).toBeGreaterThan(1_000);
    expect(tokens).toBeLessThanOrEqual(1_200_010);
  });

  it('hardly overcounts a run that is cut [U10]', async () => {
    const letters = 'qwzjkvxypf'.repeat(200);
    const exact = o200k(letters, AS_TEXT);
    expect(await tokensOf(letters)).toBeGreaterThanOrEqual(exact - 8);
    expect(await tokensOf(letters)).toBeLessThanOrEqual(exact + 16);
  });

  it('samples ten megabytes, with an error below 1% for uniform prose [U10]', async () => {
    const repeats = Math.ceil(10_000_000 / SENTENCE.length);
    const each = (await tokensOf(SENTENCE.repeat(100))) / 100;
    const tokens = await tokensOf(SENTENCE.repeat(repeats));
    expect(Number.isInteger(tokens)).toBe(true);
    expect(Math.abs(tokens / (each * repeats) - 1)).toBeLessThan(0.01);
  });

  it('samples a long text in twenty windows, the first at its start [U10]', async () => {
    const window = '7'.repeat(24_999);
    const text = Array(20)
      .fill(`${window} ${'a'.repeat(25_000)}`)
      .join('');
    expect(text).toHaveLength(1_000_000);
    // Three digits are one token, and so is the space. The letters between the windows are not counted.
    expect(await tokensOf(text)).toBe(2 * 20 * (8_333 + 1));
  });

  it('yields to the event loop between long texts [U10]', async () => {
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 0);
    await countTokens(Array(8).fill(SENTENCE.repeat(11_200)), 'o200k_base');
    clearInterval(ticking);
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});

describe('the encoding of a model', () => {
  it.each([
    'gpt-4',
    'gpt-4-32k',
    'gpt-4-turbo-2024-04-09',
    'gpt-3.5-turbo',
    'gpt-35-turbo-16k',
    'GPT-4',
    'openai/gpt-4-turbo',
    'ft:gpt-3.5-turbo-0125:acme::abc123',
  ])('is cl100k_base for %s [U10]', (model) => {
    expect(encodingOf(model)).toBe('cl100k_base');
  });

  it.each([
    'gpt-4o',
    'gpt-4.1-nano',
    'gpt-5',
    'gpt-41',
    'chatgpt-4o-latest',
    'o1',
    'openai/gpt-oss-120b',
    'ft:gpt-4o-mini:acme::abc123',
    'llama3.2',
    'my-gpt-4-like',
  ])('is o200k_base for %s [U10]', (model) => {
    expect(encodingOf(model)).toBe('o200k_base');
  });
});
