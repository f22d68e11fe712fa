import { createRunFold, type RunFold } from '../../../inspector/fold/run-fold.ts';
import { createRunLog, type RunLog } from '../../../inspector/log/run-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';

/** What the page makes of a run when it has all of these entries. */
export function readRun(entries: readonly JournalEntry[]): { readonly log: RunLog; readonly fold: RunFold } {
  const log = createRunLog();
  const fold = createRunFold();
  log.add(
    entries.map((entry) => JSON.stringify(entry)),
    fold.take,
  );
  return { log, fold };
}
