import { createFeed, type Feed } from './feed.ts';
import type { StructuredUpdate } from './updates.ts';

/**
 * The updates of a value. A reader that falls behind gets one partial an attempt, the newest, for it is the same growing object; and
 * none of an attempt that has failed by then. One who comes late begins with the partial of now, or with the value.
 */
export function createValueFeed(): Feed<StructuredUpdate> {
  return createFeed(
    (waiting, update) => {
      if (update.type !== 'value' && waiting.last?.type === 'partial') waiting.dropLast();
      waiting.add(update);
    },
    (late, update) => {
      late.clear();
      if (update.type !== 'reset') late.add(update);
    },
  );
}
