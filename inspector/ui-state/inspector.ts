import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { readEntry } from '../../src/chain/journal/stored-entries.ts';
import {
  type InspectedMachines,
  type InspectedRun,
  MAX_ENTRIES_WITH_STATES,
  type RunCharts,
  type SentLines,
} from '../../src/inspection/wire.ts';
import { chartsOfActors } from '../fold/actor-charts.ts';
import { createRunFold, type RunFold } from '../fold/run-fold.ts';
import { type Selection, selectionAt } from '../fold/selection.ts';
import { lastMove } from '../fold/system-step.ts';
import type { ConnectionState, PageListener, PageSource } from '../wire/page-source.ts';
import { createRunLog, type RunLog } from '../wire/run-log.ts';

/** Whether the server sends the states of a run, omits them until they are requested, or is computing them on request. */
type StatesSent = 'sent' | 'omitted' | 'requested';

/** The selected run at the cursor: what every panel shows. */
export interface PanelView {
  readonly run: InspectedRun;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  readonly count: number;
  readonly stateCount: number;
  readonly states: StatesSent;
  readonly at: number;
  /** What was selected, or else the step of the entry at the cursor; of an actor at its end, the last step with a transition. */
  readonly selection: Selection;
  readonly end: { readonly problem: string | null } | null;
}

/** Whether entries of a recorded run are still arriving, so that its state is not known yet. */
export const isLoading = ({ run, end, count }: Pick<PanelView, 'run' | 'end' | 'count'>): boolean =>
  end === null && run.entries !== undefined && count < run.entries;

export interface Inspector extends Omit<PageSource, 'start' | 'open'> {
  readonly connection: ReadonlySignal<ConnectionState>;
  readonly events: ReadonlySignal<readonly string[]>;
  /** The server resumes and forks recorded runs. */
  readonly continues: ReadonlySignal<boolean>;
  /** The model that continues a run whose journal names none; undefined if unknown. */
  readonly model: ReadonlySignal<string | undefined>;
  /** The durable machines of the server, by id. */
  readonly machines: ReadonlySignal<InspectedMachines>;
  readonly runs: ReadonlySignal<readonly InspectedRun[]>;
  /** How many recorded runs follow. */
  readonly unread: ReadonlySignal<number>;
  /** Null is the list of runs; undefined until the address or the server chooses. */
  readonly selectedRunId: ReadonlySignal<string | null | undefined>;
  readonly chosen: Signal<{ readonly selection: Selection; readonly runId: string } | null>;
  /** The chosen step while the cursor is still there. */
  readonly held: ReadonlySignal<Selection | null>;
  /** The entry at the cursor; null follows the latest. */
  readonly cursor: Signal<number | null>;
  readonly view: ReadonlySignal<PanelView | null>;
  readonly loaded: ReadonlySignal<readonly OpenedRun[]>;
  /** Null shows the list of runs. */
  selectRun(runId: string | null): void;
  /** Selects a step of the run and moves the cursor to its last entry. */
  select(selection: Selection): void;
  /** Returns a run by id; loads it if needed, without selecting it. */
  openRun(runId: string): OpenedRun;
  /** Requests the states of a run if the server has omitted them. */
  requestStates(runId: string): void;
  /** Moves the cursor to an entry; null follows the latest. */
  moveTo(seq: number | null): void;
}

/** What the server has sent, and what the user has chosen. */
function emptySignals() {
  return {
    connection: signal<ConnectionState>('connecting'),
    events: signal<readonly string[]>([]),
    continues: signal(false),
    model: signal<string | undefined>(undefined),
    machines: signal<InspectedMachines>({}),
    runs: signal<readonly InspectedRun[]>([]),
    unread: signal(0),
    selectedRunId: signal<string | null | undefined>(undefined),
    chosen: signal<{ readonly selection: Selection; readonly runId: string } | null>(null),
    cursor: signal<number | null>(null),
    loaded: signal<readonly OpenedRun[]>([]),
  };
}

export function createInspector(source: PageSource): Inspector {
  const known = emptySignals();
  const { selectedRunId, chosen, cursor } = known;
  const opened = new Map<string, OpenedRun>();

  function openRun(runId: string): OpenedRun {
    const cached = opened.get(runId);
    if (cached !== undefined) return cached;
    const run = createOpenedRun(runId, (states) => source.open(runId, states));
    opened.set(runId, run);
    known.loaded.value = [...opened.values()];
    source.open(runId);
    return run;
  }

  function selectRun(runId: string | null): void {
    if (runId !== null) openRun(runId);
    batch(() => {
      // The address may name an entry before the first run arrives: keep it.
      if (selectedRunId.value !== undefined && selectedRunId.value !== runId) cursor.value = null;
      selectedRunId.value = runId;
    });
  }

  function moveTo(seq: number | null): void {
    const last = (view.peek()?.count ?? 1) - 1;
    cursor.value = seq === null ? null : Math.max(0, Math.min(seq, last));
  }

  const held = computed(() => {
    const { runId = null, selection = null } = chosen.value ?? {};
    return runId === selectedRunId.value && selection?.to === cursor.value ? selection : null;
  });

  const view = computed<PanelView | null>(() => {
    const run = known.runs.value.find(({ runId }) => runId === selectedRunId.value);
    const cached = opened.get(run?.runId ?? '');
    return run === undefined || cached === undefined ? null : viewOf(run, cached, cursor.value, held.value);
  });

  const inspector: Inspector = {
    ...source,
    ...known,
    held,
    view,
    selectRun,
    openRun,
    requestStates: (runId) => openRun(runId).requestStates(),
    moveTo,
    select(selection) {
      const runId = selectedRunId.peek();
      if (runId == null) return;
      batch(() => {
        chosen.value = { selection, runId };
        moveTo(selection.to);
      });
    },
  };
  source.start(listenerOf(known, inspector, opened), (runId) => opened.get(runId)?.log.count ?? 0);
  return inspector;
}

/** Returns a listener that stores what the source sends. */
function listenerOf(
  known: ReturnType<typeof emptySignals>,
  { openRun, selectRun }: Pick<Inspector, 'openRun' | 'selectRun'>,
  opened: ReadonlyMap<string, OpenedRun>,
): PageListener {
  return {
    connection: (state) => {
      known.connection.value = state;
    },
    hello(types, all, name, machines = {}) {
      known.machines.value = machines;
      known.events.value = types;
      known.continues.value = all;
      known.model.value = name;
    },
    runs(all, first, more) {
      batch(() => {
        known.runs.value = all;
        known.unread.value = more;
      });
      for (const { runId, status } of all) if (status === 'running') opened.get(runId)?.resume();
      if (known.selectedRunId.value === undefined && first !== null) selectRun(first);
    },
    charts: (runId, { charts, invoked }) => {
      openRun(runId).charts.value = { charts, invoked };
    },
    entries: (runId, from, lines, about) => openRun(runId).add(from, lines, about),
    states: (runId, from, frames) => openRun(runId).addStates(from, frames),
    end: (runId, problem) => openRun(runId).finish(problem),
  };
}

/** Returns a run with the cursor at an entry; null means the latest one. */
function viewOf(run: InspectedRun, opened: OpenedRun, cursor: number | null, held: Selection | null): PanelView {
  const { log, fold, count, stateCount, states, charts, end } = opened;
  const last = Math.max(0, count.value - 1);
  const at = Math.min(cursor ?? last, last);
  // The latest entry of an actor often only records that it waits.
  const latest =
    run.kind === 'system' && cursor === null && count.value > 0 ? lastMove({ log, fold, count: count.value }) : null;
  return {
    run,
    log,
    fold,
    charts: charts.value && chartsOfActors(charts.value, fold.charts),
    count: count.value,
    at,
    // The address may name a step that has not arrived yet.
    selection: held !== null && held.to <= last ? held : (latest ?? selectionAt(fold, at, count.value)),
    stateCount: stateCount.value,
    states: states.value,
    end: end.value,
  };
}

/** A run the page follows. The log and the fold grow as entries arrive; `count` is updated once per frame. */
export interface OpenedRun {
  readonly runId: string;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly count: ReadonlySignal<number>;
  /** Changes when states arrive. */
  readonly stateCount: ReadonlySignal<number>;
  readonly states: ReadonlySignal<StatesSent>;
  readonly charts: Signal<RunCharts | null>;
  /** No more entries will arrive; `problem`: why the rest is missing. */
  readonly end: ReadonlySignal<{ readonly problem: string | null } | null>;
  add(from: number, lines: readonly string[], about?: SentLines): void;
  addStates(from: number, frames: readonly string[]): void;
  finish(problem: string | null): void;
  requestStates(): void;
  /** Requests the entries that another process appends to an ended recording. */
  resume(): void;
}

/** While a long recording loads, the page updates less often: rendering each frame would take longer than loading. */
const LOADING_PUBLISH_MS = 1_000;
/** The states of a long recording arrive in many pieces, over many seconds. */
const STATES_PUBLISH_MS = 200;

function createOpenedRun(runId: string, openAgain: (states?: true) => void): OpenedRun {
  const log = createRunLog();
  const fold = createRunFold();
  const count = signal(0);
  const stateCount = signal(0);
  const states = signal<StatesSent>('sent');
  const end = signal<{ readonly problem: string | null } | null>(null);
  let publishTimer: ReturnType<typeof setTimeout> | undefined;
  let stateTimer: ReturnType<typeof setTimeout> | undefined;

  function publish(): void {
    clearTimeout(publishTimer);
    publishTimer = undefined;
    count.value = log.count;
    if (log.problem !== null) end.value = { problem: log.problem };
  }
  const publishSoon = atMostOncePerFrame(publish);

  function publishStates(): void {
    clearTimeout(stateTimer);
    stateTimer = undefined;
    stateCount.value = fold.states.count;
  }

  return {
    runId,
    log,
    fold,
    count,
    stateCount,
    states,
    end,
    charts: signal(null),
    add(from, lines, { more: hasMore, format } = {}) {
      // After a reconnect, known entries may arrive again.
      const more = lines.slice(Math.max(0, log.count - from));
      if (format === 'actor') log.add(more, fold.takeOfActor as never, fold.readOfActor);
      else log.add(more, fold.take, format === 'run' ? readEntry : null);
      if (hasMore && count.peek() > 0) publishTimer ??= setTimeout(publish, LOADING_PUBLISH_MS);
      else publishSoon();
    },
    addStates(from, frames) {
      fold.takeStates(from, frames);
      stateTimer ??= setTimeout(publishStates, STATES_PUBLISH_MS);
    },
    finish(problem) {
      batch(() => {
        publish();
        publishStates();
        end.value ??= { problem };
        const areOmitted = stateCount.value === 0 && log.count > MAX_ENTRIES_WITH_STATES && states.value === 'sent';
        states.value = areOmitted ? 'omitted' : 'sent';
      });
    },
    requestStates() {
      if (states.peek() !== 'omitted') return;
      states.value = 'requested';
      openAgain(true);
    },
    resume() {
      if (end.peek() === null || log.problem !== null) return;
      end.value = null;
      openAgain();
    },
  };
}

/**
 * Returns a function that acts at once for the first call in a frame, and once before the next frame for all others: after a pause, nothing
 * waits for a frame.
 */
export function atMostOncePerFrame(act: () => void): () => void {
  let [hasActed, isDue] = [false, false];
  const endFrame = oncePerFrame(() => {
    hasActed = false;
    if (isDue) run();
  });
  function run(): void {
    [hasActed, isDue] = [true, false];
    act();
    endFrame();
  }
  return () => {
    if (hasActed) isDue = true;
    else run();
  };
}

/**
 * Returns a function that runs `action` once before the next frame, however often it is called; in a hidden page a
 * little later.
 */
export function oncePerFrame(act: () => void): () => void {
  let isScheduled = false;
  const run = (): void => {
    isScheduled = false;
    act();
  };
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    if (document.visibilityState === 'visible') requestAnimationFrame(run);
    else setTimeout(run, 250);
  };
}
