import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Repetition } from '../../../../src/llm/streaming/repetition.ts';
import { readText } from '../../../support/model-streams.ts';

/** Adds a text in chunks. Returns the piece that it repeats, and how many characters were added until then. */
function found(text: string, chunkChars: number): { piece: string; after: number } | null {
  const repetition = new Repetition();
  for (let at = 0; at < text.length; at += chunkChars) {
    const piece = repetition.add(text.slice(at, at + chunkChars));
    if (piece !== null) return { piece, after: at + chunkChars };
  }
  return null;
}

describe('a reply that repeats itself', () => {
  test('is stopped, and its failure says what it repeats', async () => {
    const { value, failure } = await readText(`{"answer":"It is ${'so good, '.repeat(2_000)}`);
    expect(value).toBeNull();
    expect(failure).toMatchObject({
      stage: 'extraction',
      code: 'repetitive',
      retryable: true,
      message: 'The reply was stopped because it repeats “so good,”.',
    });
  });

  test.each(['哈', 'A', 'falsely, ', ' \n'])('is found if it repeats %j', (once) => {
    expect(found(once.repeat(2_000), 7)).not.toBeNull();
  });

  test('is found at most 250 characters after its repetition has 1,000', () => {
    const piece = fc
      .string({ minLength: 1, maxLength: 125 })
      .map((text) => `${text.replaceAll(/["{}[\]|<>\d]/gu, '')} so `);
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), piece, fc.integer({ min: 1, max: 100 }), (before, once, chunk) => {
        const loop = once.repeat(Math.ceil(3_000 / once.length));
        expect(found(before + loop, chunk)?.after).toBeLessThanOrEqual(before.length + 1_000 + 250 + chunk);
      }),
    );
  });

  test.each([
    ['eight copies of a long line', `${'A line of a poem that comes back after each verse, as poems do. '.repeat(8)}`],
    ['brackets', '['.repeat(2_000)],
    ['the pixels of a picture', `[${'0, '.repeat(2_000)}`],
    ['a decimal number', `[${'0.5, '.repeat(2_000)}`],
    ['a table of booleans', `[${'[false, false, false],\n'.repeat(200)}`],
    ['empty values', `[${'null,'.repeat(500)}`],
    ['bytes', `{${'0xFF, '.repeat(500)}`],
    ['a mask', '0,1,'.repeat(500)],
    ['exponents', '0e+00 '.repeat(500)],
    ['equal objects', '{"x":0,"y":0},'.repeat(200)],
    ['equal cells of a level', '"wall",'.repeat(300)],
    ['equal rows of a table', '| wall | wall |\n'.repeat(200)],
    ['numbered items', Array.from({ length: 300 }, (_, at) => `{"id":${at},"name":"item"}`).join(',')],
  ])('is not %s', (_, text) => {
    expect(found(text, 7)).toBeNull();
  });
});
