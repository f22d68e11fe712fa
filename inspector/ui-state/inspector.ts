import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { InspectedRun, RunCharts, SendableEvent } from '../../src/inspection/wire.ts';
import type { RunFold } from '../fold/run-fold.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Connection, PageSource } from '../wire/page-source.ts';
import { createOpenedRun, type OpenedRun } from './opened-run.ts';

/** The run that is looked at, as it stands at the cursor: what every panel shows. */
export interface RunView {
  readonly run: InspectedRun;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  /** Entries that are there. */
  readonly count: number;
  /** The entry that is looked at. */
  readonly at: number;
  readonly end: { readonly problem: string | null } | null;
}

/** Everything that the page shows, and what can be done with it. */
export interface Inspector {
  readonly connection: ReadonlySignal<Connection>;
  readonly events: ReadonlySignal<readonly SendableEvent[]>;
  readonly runs: ReadonlySignal<readonly InspectedRun[]>;
  readonly chosen: ReadonlySignal<string | null>;
  /** The entry that is looked at; null follows the newest. */
  readonly cursor: Signal<number | null>;
  readonly view: ReadonlySignal<RunView | null>;
  /** The runs that are here, or on their way. */
  readonly loaded: ReadonlySignal<readonly OpenedRun[]>;
  choose(runId: string): void;
  /** A run by its id, opened if it is not: for more than one at a time. */
  follow(runId: string): OpenedRun;
  moveTo(seq: number): void;
  readonly send: PageSource['send'];
  readonly test: PageSource['test'];
}

export function createInspector(source: PageSource): Inspector {
  const connection = signal<Connection>('connecting');
  const events = signal<readonly SendableEvent[]>([]);
  const runs = signal<readonly InspectedRun[]>([]);
  const chosen = signal<string | null>(null);
  const cursor = signal<number | null>(null);
  const opened = new Map<string, OpenedRun>();
  const loaded = signal<readonly OpenedRun[]>([]);

  function follow(runId: string): OpenedRun {
    const there = opened.get(runId);
    if (there !== undefined) return there;
    const run = createOpenedRun(runId);
    opened.set(runId, run);
    loaded.value = [...opened.values()];
    source.open(runId);
    return run;
  }

  function choose(runId: string): void {
    follow(runId);
    batch(() => {
      // An entry may have been asked for before there was a run: it is one of the first.
      if (chosen.value !== null && chosen.value !== runId) cursor.value = null;
      chosen.value = runId;
    });
  }

  const view = computed<RunView | null>(() => {
    const run = runs.value.find(({ runId }) => runId === chosen.value);
    if (run === undefined) return null;
    const there = opened.get(run.runId);
    if (there === undefined) return null;
    const { log, fold, count, charts, end } = there;
    const last = Math.max(0, count.value - 1);
    return {
      ...{ run, log, fold },
      charts: charts.value,
      count: count.value,
      at: Math.min(cursor.value ?? last, last),
      end: end.value,
    };
  });

  source.start(
    {
      connection: (state) => {
        connection.value = state;
      },
      events: (all) => {
        events.value = all;
      },
      runs(all, first) {
        runs.value = all;
        const wanted = chosen.value ?? first ?? all[0]?.runId;
        if (wanted !== undefined) choose(wanted);
      },
      charts: (runId, { charts, invoked }) => {
        follow(runId).charts.value = { charts, invoked };
      },
      entries: (runId, from, lines) => follow(runId).add(from, lines),
      end: (runId, problem) => follow(runId).finish(problem),
    },
    (runId) => opened.get(runId)?.log.count ?? 0,
  );

  return {
    ...{ connection, events, runs, chosen, cursor, view, loaded, choose, follow },
    moveTo(seq) {
      const last = (view.value?.count ?? 1) - 1;
      cursor.value = Math.max(0, Math.min(seq, last));
    },
    send: source.send,
    test: source.test,
  };
}
