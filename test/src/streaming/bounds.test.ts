import { describe, expect, it, test, vi } from 'vitest';
import type { ModelPart } from '../../../machines/contracts/model.ts';
import { readAll, readText } from './model-stream.ts';

let parsed = 0;

/** jsonriver as it is, with the characters counted that go into it. */
vi.mock('jsonriver', async (original) => {
  const river = await original<typeof import('jsonriver')>();
  async function* counted(stream: AsyncIterable<string>) {
    for await (const piece of stream) {
      parsed += piece.length;
      yield piece;
    }
  }
  return { ...river, parse: (stream: AsyncIterable<string>) => river.parse(counted(stream)) };
});

/** A stream that would go on for ever, and whether it was closed. */
function endless(piece: string) {
  const seen = { pulls: 0, closed: false };
  async function* parts(): AsyncGenerator<ModelPart, void> {
    try {
      for (;;) {
        seen.pulls += 1;
        yield { type: 'text-delta', text: piece };
      }
    } finally {
      seen.closed = true;
    }
  }
  return { seen, parts: parts() };
}

describe('a reply that is too long', () => {
  test.each(['{"a":', '[', 'word ', '"', '{"a":1} ', '\n'])(
    'of %j without end is cut off, and its stream closed',
    async (piece) => {
      const { seen, parts } = endless(piece);
      const { value, failure } = await readAll(parts, { maxChars: 1_000 });
      expect(value).toBeNull();
      expect(failure).toMatchObject({ stage: 'extraction', code: 'too_long', retryable: true });
      expect(seen).toEqual({ pulls: Math.floor(1_000 / piece.length) + 1, closed: true });
    },
  );

  test('of exactly the limit is not too long', async () => {
    const text = '{"a":"bcd"}';
    async function* parts(): AsyncGenerator<ModelPart, void> {
      yield { type: 'text-delta', text };
    }
    expect(await readAll(parts(), { maxChars: text.length })).toMatchObject({ value: { a: 'bcd' }, failure: null });
    expect(await readAll(parts(), { maxChars: text.length - 1 })).toMatchObject({ failure: { code: 'too_long' } });
  });

  it('leaves no more than the limit of its text, however large its pieces are', async () => {
    const { text, texts } = await readAll(endless('x'.repeat(5_000)).parts, { maxChars: 10 });
    expect(text).toHaveLength(10);
    expect(texts.join('')).toHaveLength(10);
  });
});

describe('the work that a reply makes', () => {
  const objectOf = (items: number): string =>
    JSON.stringify({ items: Array.from({ length: items }, (_, n) => ({ n, text: `item ${n}` })) });

  async function work(
    json: string,
    chunkChars: number,
  ): Promise<{ readonly parsed: number; readonly partials: number; readonly chunks: number }> {
    parsed = 0;
    const chunks = json.match(new RegExp(`[^]{1,${chunkChars}}`, 'g')) ?? [];
    let partials = 0;
    const { readStream } = await import('../../../src/streaming/read-stream.ts');
    async function* parts(): AsyncGenerator<ModelPart, void> {
      for (const text of chunks) yield { type: 'text-delta', text };
    }
    await readStream(parts, {
      onText: () => {},
      onPartial: () => {
        partials += 1;
      },
      onStoppable: () => {},
      maxChars: 10_000_000,
      promptChars: 0,
    });
    return { parsed, partials, chunks: chunks.length };
  }

  test('[A2] every character of the value is parsed once, whatever the size of the chunks', async () => {
    const json = objectOf(500);
    for (const chunkChars of [1, 4, 64, 100_000]) expect((await work(json, chunkChars)).parsed).toBe(json.length);
  });

  test('[A2] twice the value is twice the work, and never more than one partial a chunk', async () => {
    const [one, two] = [await work(objectOf(1_000), 4), await work(objectOf(2_000), 4)];
    expect(one.partials).toBeLessThanOrEqual(one.chunks);
    expect(two.partials).toBeLessThanOrEqual(two.chunks);
    expect(two.partials / one.partials).toBeLessThan(2.2);
    expect(two.parsed / one.parsed).toBeLessThan(2.2);
  });

  test('[A2] the text around the value is not parsed at all', async () => {
    parsed = 0;
    await readText('Well, here you are:\n```json\n', '{"a":1}', '\n```\n'.repeat(100));
    expect(parsed).toBe('{"a":1}'.length);
  });

  /** How many characters are looked at, one by one, in a reply of this beginning and then so many of these pieces. */
  async function looksAt(head: string, piece: string, pieces: number): Promise<number> {
    const looks = vi.spyOn(String.prototype, 'charCodeAt');
    await readText(head, ...Array.from({ length: pieces }, () => piece));
    const { length } = looks.mock.calls;
    looks.mockRestore();
    return length;
  }

  test.each(['"', '["', '{"b":'])('[A2] is linear in an endless string or nest after %j', async (head) => {
    const [one, two] = [await looksAt(`{"a":${head}`, '["x', 500), await looksAt(`{"a":${head}`, '["x', 1_000)];
    expect(two / one).toBeLessThan(2.5);
  });

  it('[A2] is linear in an endless number, which is how models fail', async () => {
    const [one, two] = [await looksAt('{"a":0.', '3333', 250), await looksAt('{"a":0.', '3333', 500)];
    expect(two / one).toBeLessThan(2.5);
  });

  it('[A2] hands no endless white space to the parser', async () => {
    parsed = 0;
    await readText('{"a":', ...Array.from({ length: 2_000 }, () => '\n \t'), '1}');
    expect(parsed).toBeLessThan(2_000);
  });
});
