import type { ComparedRun } from '../../../inspector/fold/compare/comparison.ts';
import { createRunFold, type RunFold } from '../../../inspector/fold/run-fold.ts';
import { createRunLog, type RunLog } from '../../../inspector/wire/run-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { runCharts } from './file-page.ts';

/** Entries as the page has them. */
export function folded(entries: readonly JournalEntry[]): { readonly log: RunLog; readonly fold: RunFold } {
  const log = createRunLog();
  const fold = createRunFold();
  log.add(
    entries.map((entry) => JSON.stringify(entry)),
    fold.take,
  );
  return { log, fold };
}

/** A run as the page has it when all its entries have come. */
export const comparedRun = (entries: readonly JournalEntry[], runId = 'run'): ComparedRun => ({
  runId,
  charts: runCharts,
  ...folded(entries),
});
