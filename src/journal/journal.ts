import type { Fact, JournalEntry } from '../../machines/contracts/journal-entry.ts';

/**
 * The one journal of a run: append-only, in memory. Everything that shows, stores or checks a run is a fold of it.
 * Listeners hear every entry once, in order, and must not throw.
 */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  append(fact: Fact): void;
  /** The run is over: what comes later is not written. */
  close(): void;
  listen(listener: (entry: JournalEntry) => void): void;
}

export function createJournal(now: () => number): Journal {
  const startedAtMs = now();
  const entries: JournalEntry[] = [];
  let closed = false;
  const listeners: ((entry: JournalEntry) => void)[] = [];
  return {
    entries,
    append(fact) {
      if (closed) return;
      const entry = { seq: entries.length, atMs: now() - startedAtMs, ...fact };
      entries.push(entry);
      for (const listener of listeners) listener(entry);
    },
    close: () => {
      closed = true;
    },
    listen: (listener) => void listeners.push(listener),
  };
}
