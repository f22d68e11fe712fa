import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { runCharts } from '../../../src/inspection/source.ts';
import type { InspectedRun, RunCharts } from '../../../src/inspection/wire.ts';

/** A run as a server would give it. */
export interface HeldRun {
  readonly run: InspectedRun;
  readonly charts: RunCharts;
  readonly lines: readonly string[];
  readonly test: { readonly text: string; readonly problem: string | null };
}

export function heldRun(entries: readonly JournalEntry[], changes: Partial<HeldRun> = {}): HeldRun {
  const [start, end] = [entries[0], entries.at(-1)];
  if (start?.type !== 'run-start') throw new Error('no run begins with it');
  const { runId, request: title, startedAt } = start;
  const status = end?.type === 'run-end' ? end.status : 'interrupted';
  return {
    run: { runId, kind: 'run', title, startedAt, status, live: false, fidelity: [] },
    charts: runCharts(),
    lines: entries.map((entry) => JSON.stringify(entry)),
    test: { text: `// a test of ${runId}`, problem: null },
    ...changes,
  };
}
