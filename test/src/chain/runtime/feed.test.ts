import { expect, it } from 'vitest';
import { createFeed } from '../../../../src/chain/runtime/feed.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';

it('a feed converts no entry before the first read, and then each entry once', () => {
  let reads = 0;
  const event = {
    type: 'phase-start',
    get phase() {
      reads += 1;
      return 'action';
    },
  };
  const feed = createFeed();
  const take = (seq: number): void => feed.take({ seq, atMs: 0, type: 'emitted', actor: '', event } as DurableEntry);
  [0, 1, 2].forEach(take);
  expect(reads).toBe(0);
  const { shown } = feed;
  const before = reads;
  expect([shown.length, feed.shown.length, reads]).toEqual([3, 3, before]);
  // The list that was read grows.
  take(3);
  expect([shown.length, reads]).toEqual([4, (before / 3) * 4]);
});
