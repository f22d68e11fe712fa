import type { JournalEntry, JournalStore, JournalStoreOptions } from '../../machines/contracts/journal.ts';
import { guardedWriter } from './guarded-writer.ts';
import { asRedacted, redactStrings, unreadable } from './journal-lines.ts';
import { newestFirst, noSuchRun, registerStoredRuns, runExists, runInUse, summarize } from './journal-store.ts';

interface MemoryJournal {
  readonly entries: JournalEntry[];
  isWritten: boolean;
}

/** Returns a journal store in memory, for tests and for runs inspected in the same process. It shares the entries with the runs. */
export function memoryJournals({ redact }: JournalStoreOptions = {}): JournalStore {
  const journals = new Map<string, MemoryJournal>();
  const watchers = new Set<(runIds: readonly string[]) => void>();
  const changed = (runId: string): void => {
    for (const onChange of watchers) onChange([runId]);
  };
  const find = (runId: string): MemoryJournal => {
    const journal = journals.get(runId);
    if (journal === undefined) throw noSuchRun(runId);
    return journal;
  };
  const readable = (runId: string): readonly JournalEntry[] => {
    const { entries } = find(runId);
    if (entries.length === 0) throw unreadable(`run ${runId}`, 'the journal is empty');
    const misplaced = entries.findIndex(({ seq }, at) => seq !== at);
    if (misplaced >= 0)
      throw unreadable(
        `run ${runId}`,
        `cannot read entry ${misplaced}: expected seq ${misplaced}; received ${entries[misplaced]?.seq}`,
      );
    return [...entries];
  };
  const stored = (entry: JournalEntry): JournalEntry =>
    redact ? JSON.parse(JSON.stringify(asRedacted(entry), redactStrings(redact))) : entry;
  const writerOf = (runId: string, journal: MemoryJournal) => {
    journal.isWritten = true;
    changed(runId);
    return guardedWriter({
      write(entries) {
        journal.entries.push(...entries.map(stored));
        changed(runId);
      },
      close: () => {
        journal.isWritten = false;
        changed(runId);
      },
    });
  };

  const store: JournalStore = {
    create(runId) {
      if (journals.has(runId)) throw runExists(runId);
      const journal: MemoryJournal = { entries: [], isWritten: false };
      journals.set(runId, journal);
      return writerOf(runId, journal);
    },
    async *read(runId) {
      yield* readable(runId);
    },
    async open(runId, { force = false } = {}) {
      const journal = find(runId);
      if (journal.isWritten && !force) throw runInUse(runId, 'this process');
      return { entries: readable(runId), writer: writerOf(runId, journal) };
    },
    list: async () =>
      [...journals]
        .map(([runId, { entries, isWritten }]) => summarize(runId, entries[0], entries.slice(-1), isWritten))
        .toSorted(newestFirst),
    async delete(runId) {
      if (find(runId).isWritten) throw runInUse(runId, 'this process');
      journals.delete(runId);
      changed(runId);
    },
  };
  registerStoredRuns(store, {
    openTail(runId) {
      let count = 0;
      return {
        async *read() {
          const unread = readable(runId).slice(count);
          count += unread.length;
          for (const entry of unread) yield { entry, json: JSON.stringify(entry) };
        },
      };
    },
    async *scan({ runIds } = {}) {
      for (const runId of runIds ?? journals.keys()) {
        const journal = journals.get(runId);
        if (journal === undefined) continue;
        const { entries, isWritten } = journal;
        yield {
          runId,
          version: String(entries.length),
          ends: { first: entries[0], last: entries.slice(-8) },
          isWritten,
        };
      }
    },
    watch(onChange) {
      watchers.add(onChange);
      return () => void watchers.delete(onChange);
    },
  });
  return store;
}
