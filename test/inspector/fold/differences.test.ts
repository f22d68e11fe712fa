import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageDifferences, stateDifferences, wordDifference } from '../../../inspector/fold/differences.ts';
import type { Message } from '../../../machines/contracts/message.ts';

const aMessage = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  content: fc.constantFrom('so', 'so it is', ''),
  importance: fc.constantFrom(0.1, 0.9),
});
const aContext = fc.uniqueArray(aMessage, { selector: ({ id }) => id }) as unknown as fc.Arbitrary<readonly Message[]>;

describe('the difference between two contexts', () => {
  it('transforms one context into the other and contains nothing unchanged', () => {
    fc.assert(
      fc.property(aContext, aContext, (before, after) => {
        const differences = messageDifferences(before, after);
        const created = new Map(before.map((message) => [message.id, message]));
        for (const { id, before: was, after: is } of differences) {
          expect(JSON.stringify(was)).not.toBe(JSON.stringify(is));
          expect(created.get(id) ?? null).toEqual(was);
          if (is === null) created.delete(id);
          else created.set(id, is);
        }
        expect(new Set(created.values())).toEqual(new Set(after));
      }),
    );
  });

  it('marks the words of two texts so that each can be reconstructed', () => {
    const texts = fc.array(fc.constantFrom('so', 'it', 'is', ' ', '\n', '.')).map((words) => words.join(''));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const pieces = wordDifference(before, after) ?? [];
        const side = (other: string) =>
          pieces
            .filter((piece) => piece.in !== other)
            .map(({ text }) => text)
            .join('');
        expect([side('after'), side('before')]).toEqual([before, after]);
      }),
    );
  });

  it('falls back to whole texts that are too long or too different, so that the page stays responsive', () => {
    expect(wordDifference('so '.repeat(20_000), 'so')).toBeNull();
    const words = (from: number): string => Array.from({ length: 1_500 }, (_, at) => `w${from + at}`).join(' ');
    expect(wordDifference(words(0), words(2_000))).toBeNull();
  });

  it('lists other differences by path, except excluded ones', () => {
    const before = { messages: [1], recursion: { cycle: 1, history: [{ cycle: 1 }] }, usage: { cost: null } };
    const after = { messages: [2], recursion: { cycle: 2, history: [] }, usage: { cost: null }, direction: 'yield' };
    expect(stateDifferences(before, after, ['messages'])).toEqual([
      {
        name: 'recursion',
        fields: [
          { path: 'recursion.cycle', before: 1, after: 2 },
          { path: 'recursion.history.0', before: { cycle: 1 }, after: undefined },
        ],
      },
      { name: 'direction', fields: [{ path: 'direction', before: undefined, after: 'yield' }] },
    ]);
  });
});
