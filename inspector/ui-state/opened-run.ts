import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
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
  readonly end: ReadonlySignal<{ readonly problem: string | null } | null>;
  add(from: number, lines: readonly string[]): void;
  finish(problem: string | null): void;
}

/** A long recording that is being read: so many entries at once. To show each of its frames would take longer than to read it. */
const LONG_ENTRIES = 5_000;
const MANY_ENTRIES = 200;
const READING_MS = 1_000;

export function createOpenedRun(runId: string): OpenedRun {
  const log = createRunLog();
  const fold = createRunFold();
  const count = signal(0);
  const end = signal<{ readonly problem: string | null } | null>(null);
  let reading: ReturnType<typeof setTimeout> | undefined;

  function tell(): void {
    clearTimeout(reading);
    reading = undefined;
    count.value = log.count;
    if (log.problem !== null) end.value = { problem: log.problem };
  }
  const tellSoon = oncePerFrame(tell);

  return {
    ...{ runId, log, fold, count, end },
    charts: signal(null),
    add(from, lines) {
      // After a connection was lost, what is there already may come again.
      log.add(lines.slice(Math.max(0, log.count - from)), fold.take);
      const isReading = log.count > LONG_ENTRIES && log.count - count.peek() > MANY_ENTRIES;
      if (isReading) reading ??= setTimeout(tell, READING_MS);
      else tellSoon();
    },
    finish(problem) {
      batch(() => {
        tell();
        end.value ??= { problem };
      });
    },
  };
}
