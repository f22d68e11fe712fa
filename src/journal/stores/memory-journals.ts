import type { JournalStore, JournalStoreOptions } from '../../../machines/contracts/journal-store.ts';
import { createJournalStore } from './create-journal-store.ts';
import type { LineSink } from './journal-backend.ts';
import { noSuchRun, runExists, runInUse } from './refusals.ts';

interface Kept {
  readonly lines: string[];
  isWritten: boolean;
}

/** Journals that live as long as the process: for tests, and to look at afterwards. */
export function memoryJournals(options: JournalStoreOptions = {}): JournalStore {
  const runs = new Map<string, Kept>();
  const keptOf = (runId: string): Kept => {
    const kept = runs.get(runId);
    if (kept === undefined) throw noSuchRun(runId);
    return kept;
  };
  const sinkOf = (kept: Kept): LineSink => {
    kept.isWritten = true;
    return {
      append: (line) => void kept.lines.push(line),
      close: () => {
        kept.isWritten = false;
      },
    };
  };
  return createJournalStore(
    {
      create(runId) {
        if (runs.has(runId)) throw runExists(runId);
        const kept: Kept = { lines: [], isWritten: false };
        runs.set(runId, kept);
        return sinkOf(kept);
      },
      lines: (runId) => keptOf(runId).lines,
      reopen(runId) {
        const kept = keptOf(runId);
        if (kept.isWritten) throw runInUse(runId, 'this process');
        return sinkOf(kept);
      },
      spines: () =>
        [...runs].map(([runId, { lines, isWritten }]) => ({
          runId,
          first: lines[0] ?? '',
          last: lines.at(-1) ?? '',
          isWritten,
        })),
    },
    options,
  );
}
