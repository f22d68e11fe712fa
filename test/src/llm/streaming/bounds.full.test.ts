import { describe, expect, test, vi } from 'vitest';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { argumentsPart, readAll, readText, reasoningPart } from '../../../support/model-streams.ts';
import { turnsDuring } from '../../../support/turns.ts';

let parsed = 0;

/** The unmodified jsonriver with its input characters counted. */
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

/** An endless stream, and whether it was closed. */
function endless(piece: string | ModelPart) {
  const seen = { pulls: 0, closed: false };
  async function* parts(): AsyncGenerator<ModelPart, void> {
    try {
      for (;;) {
        seen.pulls += 1;
        yield typeof piece === 'string' ? { type: 'text-delta', text: piece } : piece;
      }
    } finally {
      seen.closed = true;
    }
  }
  return { seen, parts: parts() };
}

describe('a reply that is too long', () => {
  const TOO_LONG = 'The reply is longer than 900 characters, including its reasoning.';

  test.each<[string, ModelPart, 'text' | 'tool-call']>([
    ['reasoning', reasoningPart('Hm, '), 'text'],
    ['other tool calls', argumentsPart('{"b"', { name: 'search' }), 'tool-call'],
    ['text beside the call', { type: 'text-delta', text: 'Well' }, 'tool-call'],
    ['arguments', argumentsPart('{"a"'), 'tool-call'],
  ])('with endless %s is cut off, reported, and not retained', async (_, part, form) => {
    const { seen, parts } = endless(part);
    const { value, failure, text, usage } = await readAll(parts, { form, maxChars: 900 });
    expect(value).toBeNull();
    expect(failure).toMatchObject({ stage: 'extraction', code: 'too_long', message: TOO_LONG });
    expect(seen).toEqual({ pulls: 226, closed: true });
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 225, estimated: true });
    expect(text.length).toBe(part.type === 'tool-call-delta' && part.name !== 'search' ? 900 : 0);
  });

  test('of exactly the limit is accepted', async () => {
    const text = '{"a":"bcd"}';
    async function* parts(): AsyncGenerator<ModelPart, void> {
      yield { type: 'text-delta', text };
    }
    expect(await readAll(parts(), { maxChars: text.length })).toMatchObject({ value: { a: 'bcd' }, failure: null });
    expect(await readAll(parts(), { maxChars: text.length - 1 })).toMatchObject({ failure: { code: 'too_long' } });
  });
});

describe('the parsing work for a reply', () => {
  const objectOf = (items: number): string =>
    JSON.stringify({ items: Array.from({ length: items }, (_, n) => ({ n, text: `item ${n}` })) });

  async function work(
    json: string,
    chunkChars: number,
  ): Promise<{ readonly parsed: number; readonly partials: number; readonly chunks: number }> {
    parsed = 0;
    const chunks = json.match(new RegExp(`[^]{1,${chunkChars}}`, 'g')) ?? [];
    let partials = 0;
    async function* parts(): AsyncGenerator<ModelPart, void> {
      for (const text of chunks) yield { type: 'text-delta', text };
    }
    await readAll(parts(), {
      onPartial: () => {
        partials += 1;
      },
      maxChars: 10_000_000,
    });
    return { parsed, partials, chunks: chunks.length };
  }

  test('[A2] is one pass over the value for any chunk size', async () => {
    const json = objectOf(500);
    for (const chunkChars of [1, 4, 64, 100_000]) expect((await work(json, chunkChars)).parsed).toBe(json.length);
  });

  test('[A2] doubles with the length of the value, with at most one partial per chunk', async () => {
    const [one, two] = [await work(objectOf(1_000), 4), await work(objectOf(2_000), 4)];
    expect(one.partials).toBeLessThanOrEqual(one.chunks);
    expect(two.partials).toBeLessThanOrEqual(two.chunks);
    expect(two.partials / one.partials).toBeLessThan(2.2);
    expect(two.parsed / one.parsed).toBeLessThan(2.2);
  });

  /** Returns how many characters are scanned in a reply with this start and this many repeated pieces. */
  async function looksAt(head: string, piece: string, pieces: number): Promise<number> {
    const looks = vi.spyOn(String.prototype, 'charCodeAt');
    await readText(head, ...Array.from({ length: pieces }, () => piece));
    const { length } = looks.mock.calls;
    looks.mockRestore();
    return length;
  }

  test.each(['"', '["', '{"b":'])('[A2] is linear in an endless string or nesting of %j', async (head) => {
    const [one, two] = [await looksAt(`{"a":${head}`, '["x', 500), await looksAt(`{"a":${head}`, '["x', 1_000)];
    expect(two / one).toBeLessThan(2.5);
  });

  /** Endless replies whose pieces are cheap to read once and expensive to read again with every chunk. */
  const endings: readonly (readonly [string, string, string])[] = [
    ['number', '{"a":0.', '3333'],
    ['key', '{"', 'kkkk'],
    ['word', '{"a":t', 'rrrr'],
    ['invalid value', '{"a": oops', ' and'],
    ['gap', '{"a":', '  \n '],
    ['gap after a brace', '{', '    '],
    ['sequence of empty objects', '', '{} {'],
    ['sequence of lists', '', '[1] '],
    ['sequence of unclosed lists', '', '[1) '],
    ['sequence of broken objects', '', '{"a"} '],
    ['sequence of lists of objects', '', '[{"a":1}] '],
    ['nesting of lists', '', '[[[['],
    ['nesting of lists and prose brackets', '', '[[a '],
    ['sequence of escapes', '{"a":"', '\\u00'],
    ['sequence of small lists in a list', '[', '[1],'],
  ];

  test.each(endings)('[A2] is linear in an endless %s', async (_, head, piece) => {
    const [one, two] = [await looksAt(head, piece, 250), await looksAt(head, piece, 500)];
    expect(two / one).toBeLessThan(2.5);
    expect(one).toBeLessThan(4 * (head.length + 250 * piece.length));
  });

  test('[A2] stops at invalid JSON', async () => {
    for (const head of ['{"a": oops', '{"a":1 "b":"', '{"a":01', '{"a",']) {
      parsed = 0;
      await readText(...head, ...Array.from({ length: 500 }, () => 'more'));
      expect(parsed).toBeLessThanOrEqual(head.length);
    }
  });
});

test('yielding to the event loop lets timers and input run for any rate and kind of stream parts', async () => {
  for (const part of [
    reasoningPart('['),
    { type: 'text-delta', text: '' } as const,
    argumentsPart('{', { name: 'search' }),
  ]) {
    let left = 5_000;
    const parts = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: left-- === 0, value: part } as IteratorResult<ModelPart, undefined>),
      }),
    };
    expect(await turnsDuring(() => readAll(parts))).toBeGreaterThanOrEqual(9);
  }
});
