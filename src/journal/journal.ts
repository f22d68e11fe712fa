import type { Fact, JournalEntry } from '../../machines/contracts/journal-entry.ts';

/**
 * The one journal of a run: append-only, in memory. Everything that shows, stores or checks a run is a fold of it.
 * Listeners hear every entry once, in order, and must not throw.
 */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  append(fact: Fact): void;
  listen(listener: (entry: JournalEntry) => void): void;
}

export function createJournal(now: () => number): Journal {
  const startedAtMs = now();
  const entries: JournalEntry[] = [];
  const listeners: ((entry: JournalEntry) => void)[] = [];
  return {
    entries,
    append(fact) {
      const entry = { seq: entries.length, atMs: now() - startedAtMs, ...fact };
      entries.push(entry);
      for (const listener of listeners) listener(entry);
    },
    listen: (listener) => void listeners.push(listener),
  };
}
