import type { JournalStore, JournalStoreOptions } from '../../machines/contracts/journal.ts';
import { createJournalStore, type LineSink, noSuchRun, runExists, runInUse } from './journal-store.ts';

interface MemoryJournal {
  readonly lines: string[];
  isWritten: boolean;
}

/** Returns a journal store in memory, for tests and for runs inspected in the same process. */
export function memoryJournals(options: JournalStoreOptions = {}): JournalStore {
  const journals = new Map<string, MemoryJournal>();
  const find = (runId: string): MemoryJournal => {
    const journal = journals.get(runId);
    if (journal === undefined) throw noSuchRun(runId);
    return journal;
  };
  const openSink = (journal: MemoryJournal): LineSink => {
    journal.isWritten = true;
    return {
      append: (line) => void journal.lines.push(line),
      close: () => {
        journal.isWritten = false;
      },
    };
  };
  return createJournalStore(
    {
      create(runId) {
        if (journals.has(runId)) throw runExists(runId);
        const journal: MemoryJournal = { lines: [], isWritten: false };
        journals.set(runId, journal);
        return openSink(journal);
      },
      lines: (runId) => find(runId).lines,
      reopen(runId, { force = false }) {
        const journal = find(runId);
        if (journal.isWritten && !force) throw runInUse(runId, 'this process');
        return openSink(journal);
      },
      bounds: () =>
        [...journals].map(([runId, { lines, isWritten }]) => ({
          runId,
          first: lines[0] ?? '',
          last: lines.at(-1) ?? '',
          isWritten,
        })),
    },
    options,
  );
}
