import type { ComparedRun } from '../../../inspector/fold/compare/comparison.ts';
import { createRunFold } from '../../../inspector/fold/run-fold.ts';
import { createRunLog } from '../../../inspector/log/run-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { runCharts } from './file-page.ts';

/** A run as the page has it when all its entries have come. */
export function comparedRun(entries: readonly JournalEntry[], runId = 'run'): ComparedRun {
  const log = createRunLog();
  const fold = createRunFold();
  log.add(
    entries.map((entry) => JSON.stringify(entry)),
    fold.take,
  );
  return { runId, log, fold, charts: runCharts };
}
