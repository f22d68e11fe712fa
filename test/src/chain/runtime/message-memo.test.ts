import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import { createTextCache } from '../../../../src/chain/runtime/context-measures.ts';
import { aMessage } from '../../../support/contract-samples.ts';

const said = (content: string): Message => aMessage({ content });

/** A memo of text lengths that records the contents it computes. */
function lengths() {
  const asked: (readonly string[])[] = [];
  const cached = createTextCache(async (contents: readonly string[]) => {
    asked.push(contents);
    return contents.map(({ length }) => length);
  });
  const of = (messages: readonly Message[]) => cached(messages.map(({ content }) => content));
  return { of, asked };
}

describe('values memoized per message', () => {
  it('[U10] are computed once per content, in order, for any sequence of contexts', async () => {
    const pool = fc.array(fc.string({ maxLength: 3 }).map(said), { minLength: 1, maxLength: 8 });
    const contexts = pool.chain((messages) => fc.tuple(fc.constant(messages), fc.array(fc.subarray(messages))));
    await fc.assert(
      fc.asyncProperty(contexts, async ([pool, calls]) => {
        const { of, asked } = lengths();
        for (const messages of calls) expect(await of(messages)).toEqual(messages.map(({ content }) => content.length));
        for (const contents of asked) expect(new Set(contents).size).toBe(contents.length);
        // A message is never computed twice; two messages with the same content may be if they were never in the same context.
        expect(asked.flat().length).toBeLessThanOrEqual(pool.length);
      }),
    );
  });

  it('[U10] are discarded and computed again when computing failed', async () => {
    let fails = true;
    const cached = createTextCache(async () => {
      if (fails) throw new Error('no');
      return [3];
    });
    await expect(cached(['one'])).rejects.toThrow('no');
    fails = false;
    expect(await cached(['one'])).toEqual([3]);
  });
});
