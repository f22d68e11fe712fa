import { onAbort } from '../../internal/async.ts';
import type { DurableEntry } from '../entries.ts';
import type { FollowOptions } from './journal-store.ts';

interface Followed {
  /** Yields the entries after those that it yielded before. */
  read(): AsyncIterable<DurableEntry> | Iterable<DurableEntry>;
  /** Calls `onChange` after the journal has changed, or may have. Returns a function that stops it. */
  watch(onChange: () => void): () => void;
  isEnd(entry: DurableEntry): boolean;
}

/** Yields the entries of a journal from `from` until the last one ends it. Watches only while it is iterated; `return` also ends a pending `next`. */
export function followJournal(
  { read, watch, isEnd }: Followed,
  { from = 0, signal }: FollowOptions = {},
): AsyncIterableIterator<DurableEntry> {
  let isReturned = false;
  let wake = (): void => {};
  async function* follow(): AsyncGenerator<DurableEntry, undefined> {
    signal?.throwIfAborted();
    let hasChanged = true;
    const changed = (): void => {
      hasChanged = true;
      wake();
    };
    const unwatch = watch(changed);
    const forget = signal && onAbort(signal, changed);
    try {
      while (!isReturned) {
        if (!hasChanged)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        hasChanged = false;
        let hasEnded = false;
        for await (const entry of read()) {
          signal?.throwIfAborted();
          if (isReturned) return;
          if (entry.seq >= from) yield entry;
          hasEnded = isEnd(entry);
        }
        if (hasEnded) return;
        signal?.throwIfAborted();
      }
    } finally {
      unwatch();
      forget?.();
    }
  }
  const entries = follow();
  return {
    next: () => entries.next(),
    return() {
      isReturned = true;
      wake();
      return entries.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
