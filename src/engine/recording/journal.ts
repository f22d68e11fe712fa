import type { JournalEntry, JournalEvent, JournalWriter } from '../../../machines/contracts/journal.ts';

/**
 * The journal of a run in memory, append-only. Everything that shows, stores or checks a run is derived from it. Listeners receive every
 * entry once, in order, and must not throw.
 */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** Returns the milliseconds since the start of the run. */
  nowMs(): number;
  append(event: JournalEvent): void;
  /** Ends the journal: later events are not recorded. */
  close(): void;
  listen(listener: (entry: JournalEntry) => void): void;
}

/** `atMs` returns the milliseconds since the start of the run at the time that entry number `seq` is written. */
export function createJournal(atMs: (seq: number) => number): Journal {
  const entries: JournalEntry[] = [];
  let closed = false;
  const listeners: ((entry: JournalEntry) => void)[] = [];
  return {
    entries,
    nowMs: () => atMs(entries.length),
    append(event) {
      if (closed) return;
      const entry = { seq: entries.length, atMs: atMs(entries.length), ...event };
      entries.push(entry);
      for (const listener of listeners) listener(entry);
    },
    close: () => {
      closed = true;
    },
    listen: (listener) => void listeners.push(listener),
  };
}

/**
 * Returns a writer that never throws, because journal stores are user code. After the first error, which becomes its `failure`, and
 * after `close`, it writes nothing more.
 */
export function guardedWriter(writer: Omit<JournalWriter, 'failure'> & Partial<JournalWriter>): JournalWriter {
  let failure: string | null = null;
  let closed = false;
  const attempt = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
    }
  };
  return {
    get failure() {
      return failure ?? writer.failure ?? null;
    },
    write(entry) {
      if (failure === null && !closed) attempt(() => writer.write(entry));
    },
    close() {
      if (!closed) attempt(() => writer.close());
      closed = true;
    },
  };
}
