import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { createRunFold, type RunFold } from '../fold/run-fold.ts';
import { createRunLog, type RunLog } from '../log/run-log.ts';
import { oncePerFrame } from './frame.ts';

/** A run that the page follows. The log and the fold grow as entries come; `count` tells of it once a frame. */
export interface OpenedRun {
  readonly runId: string;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly count: ReadonlySignal<number>;
  readonly charts: Signal<RunCharts | null>;
  /** No more entries will come; `problem`: why the rest is missing. */
  readonly end: Signal<{ readonly problem: string | null } | null>;
  add(from: number, lines: readonly string[]): void;
}

export function createOpenedRun(runId: string): OpenedRun {
  const log = createRunLog();
  const fold = createRunFold();
  const count = signal(0);
  const end = signal<{ readonly problem: string | null } | null>(null);
  const tell = oncePerFrame(() => {
    count.value = log.count;
    if (log.problem !== null) end.value = { problem: log.problem };
  });
  return {
    ...{ runId, log, fold, count, end },
    charts: signal(null),
    add(from, lines) {
      // After a connection was lost, what is there already may come again.
      log.add(lines.slice(Math.max(0, log.count - from)), fold.take);
      tell();
    },
  };
}
