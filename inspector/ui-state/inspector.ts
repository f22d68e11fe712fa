import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { InspectedRun, RunCharts, SendableEvent } from '../../src/inspection/wire.ts';
import { createRunFold, type RunFold } from '../fold/run-fold.ts';
import type { Connection, PageSource } from '../wire/page-source.ts';
import { createRunLog, type RunLog } from '../wire/run-log.ts';

/** The selected run at the cursor: what every panel shows. */
export interface RunView {
  readonly run: InspectedRun;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  /** The number of entries received. */
  readonly count: number;
  /** The entry at the cursor. */
  readonly at: number;
  readonly end: { readonly problem: string | null } | null;
}

/** The state of the page, and its actions. */
export interface Inspector {
  readonly connection: ReadonlySignal<Connection>;
  readonly events: ReadonlySignal<readonly SendableEvent[]>;
  readonly runs: ReadonlySignal<readonly InspectedRun[]>;
  readonly chosen: ReadonlySignal<string | null>;
  /** The entry at the cursor; null follows the latest. */
  readonly cursor: Signal<number | null>;
  readonly view: ReadonlySignal<RunView | null>;
  /** The loaded and loading runs. */
  readonly loaded: ReadonlySignal<readonly OpenedRun[]>;
  choose(runId: string): void;
  /** Returns a run by id; loads it if needed, without selecting it. */
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
      // The address may name an entry before the first run arrives: keep it.
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

/** A run the page follows. The log and the fold grow as entries arrive; `count` is updated once per frame. */
export interface OpenedRun {
  readonly runId: string;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly count: ReadonlySignal<number>;
  readonly charts: Signal<RunCharts | null>;
  /** No more entries will arrive; `problem`: why the rest is missing. */
  readonly end: ReadonlySignal<{ readonly problem: string | null } | null>;
  add(from: number, lines: readonly string[]): void;
  finish(problem: string | null): void;
}

/** While a long recording loads, the page updates less often: rendering each frame would take longer than loading. */
const LONG_ENTRIES = 5_000;
const MANY_ENTRIES = 200;
const READING_MS = 1_000;

function createOpenedRun(runId: string): OpenedRun {
  const log = createRunLog();
  const fold = createRunFold();
  const count = signal(0);
  const end = signal<{ readonly problem: string | null } | null>(null);
  let reading: ReturnType<typeof setTimeout> | undefined;

  function publish(): void {
    clearTimeout(reading);
    reading = undefined;
    count.value = log.count;
    if (log.problem !== null) end.value = { problem: log.problem };
  }
  const publishSoon = oncePerFrame(publish);

  return {
    ...{ runId, log, fold, count, end },
    charts: signal(null),
    add(from, lines) {
      // After a reconnect, known entries may arrive again.
      log.add(lines.slice(Math.max(0, log.count - from)), fold.take);
      const isReading = log.count > LONG_ENTRIES && log.count - count.peek() > MANY_ENTRIES;
      if (isReading) reading ??= setTimeout(publish, READING_MS);
      else publishSoon();
    },
    finish(problem) {
      batch(() => {
        publish();
        end.value ??= { problem };
      });
    },
  };
}

/** Whether a run is loaded; for a live run, whether it has entries. */
export const isHere = ({ end, count }: OpenedRun, live: boolean): boolean =>
  end.value !== null || (live && count.value > 0);

/** Loads runs one after another. Returns a function that stops. */
export function loadRuns(
  inspector: Inspector,
  runs: readonly InspectedRun[],
  told: (here: number) => void,
): () => void {
  let stop = (): void => {};
  let isOver = false;

  function next(at: number): void {
    const run = runs[at];
    told(at);
    if (run === undefined || isOver) return;
    const opened = inspector.follow(run.runId);
    let wentOn = false;
    const stopWaiting = effect(() => {
      if (wentOn || !isHere(opened, run.live)) return;
      wentOn = true;
      // Outside the effect, so that it does not track what follows.
      queueMicrotask(() => {
        stopWaiting();
        next(at + 1);
      });
    });
    stop = stopWaiting;
  }

  next(0);
  return () => {
    isOver = true;
    stop();
  };
}

/**
 * Returns a function that runs `action` once before the next frame, however often it is called; in a hidden page a
 * little later.
 */
export function oncePerFrame(act: () => void): () => void {
  let isDue = false;
  const run = (): void => {
    isDue = false;
    act();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    if (document.visibilityState === 'visible') requestAnimationFrame(run);
    else setTimeout(run, 250);
  };
}
