import type { JournalEntry, JournalStore, JournalStoreOptions } from '../../machines/contracts/journal.ts';
import { guardedWriter } from '../engine/recording/journal.ts';
import { asRedacted, redactStrings, unreadable } from './journal-lines.ts';
import { newestFirst, noSuchRun, runExists, runInUse, summarize } from './journal-store.ts';

interface MemoryJournal {
  readonly entries: JournalEntry[];
  isWritten: boolean;
}

/** Returns a journal store in memory, for tests and for runs inspected in the same process. It shares the entries with the runs. */
export function memoryJournals({ redact }: JournalStoreOptions = {}): JournalStore {
  const journals = new Map<string, MemoryJournal>();
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
  const writerOf = (journal: MemoryJournal) => {
    journal.isWritten = true;
    return guardedWriter({
      write: (entries) => void journal.entries.push(...entries.map(stored)),
      close: () => {
        journal.isWritten = false;
      },
    });
  };

  return {
    create(runId) {
      if (journals.has(runId)) throw runExists(runId);
      const journal: MemoryJournal = { entries: [], isWritten: false };
      journals.set(runId, journal);
      return writerOf(journal);
    },
    async *read(runId) {
      yield* readable(runId);
    },
    async open(runId, { force = false } = {}) {
      const journal = find(runId);
      if (journal.isWritten && !force) throw runInUse(runId, 'this process');
      return { entries: readable(runId), writer: writerOf(journal) };
    },
    list: async () =>
      [...journals]
        .map(([runId, { entries, isWritten }]) => summarize(runId, entries[0], entries.slice(-1), isWritten))
        .toSorted(newestFirst),
    async delete(runId) {
      if (find(runId).isWritten) throw runInUse(runId, 'this process');
      journals.delete(runId);
    },
  };
}
