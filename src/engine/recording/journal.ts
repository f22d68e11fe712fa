import type { JournalEntry, JournalEvent } from '../../../machines/contracts/journal.ts';

/**
 * The one journal of a run: append-only, in memory. Everything that shows, stores or checks a run is a fold of it.
 * Listeners hear every entry once, in order, and must not throw.
 */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** Milliseconds from the start of the run. */
  nowMs(): number;
  append(fact: JournalEvent): void;
  /** The run is over: what comes later is not written. */
  close(): void;
  listen(listener: (entry: JournalEntry) => void): void;
}

/** `atMs` gives the milliseconds from the start of the run, now that the entry of this number is written. */
export function createJournal(atMs: (seq: number) => number): Journal {
  const entries: JournalEntry[] = [];
  let closed = false;
  const listeners: ((entry: JournalEntry) => void)[] = [];
  return {
    entries,
    nowMs: () => atMs(entries.length),
    append(fact) {
      if (closed) return;
      const entry = { seq: entries.length, atMs: atMs(entries.length), ...fact };
      entries.push(entry);
      for (const listener of listeners) listener(entry);
    },
    close: () => {
      closed = true;
    },
    listen: (listener) => void listeners.push(listener),
  };
}
