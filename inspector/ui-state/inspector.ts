import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import { readEntry } from '../../src/chain/journal/stored-entries.ts';
import {
  type InspectedMachines,
  type InspectedRun,
  MAX_ENTRIES_WITH_STATES,
  type RunCharts,
  type SentLines,
} from '../../src/inspection/wire.ts';
import { chartsOfActors } from '../fold/actor-charts.ts';
import { RunFold } from '../fold/run-fold.ts';
import { type Selection, selectionAt } from '../fold/selection.ts';
import { lastMove } from '../fold/system-step.ts';
import type { ConnectionState, PageListener, PageSource } from '../wire/page-source.ts';
import { RunLog } from '../wire/run-log.ts';

/** Whether the server sends the states of a run, omits them until they are requested, or is computing them on request. */
type StatesSent = 'sent' | 'omitted' | 'requested';

/** The selected run at the cursor: what every panel shows. */
export type PanelView = ReturnType<typeof viewOf>;

/** Whether entries of a recorded run are still arriving, so that its state is not known yet. */
export const isLoading = ({ run, end, count }: Pick<PanelView, 'run' | 'end' | 'count'>): boolean =>
  end === null && run.entries !== undefined && count < run.entries;

const emptySignals = () => ({
  connection: signal<ConnectionState>('connecting'),
  /** The server resumes and forks recorded runs. */
  continues: signal(false),
  /** The model that continues a run whose journal names none; undefined if unknown. */
  model: signal<string | undefined>(undefined),
  /** The durable machines of the server, by id. */
  machines: signal<InspectedMachines>({}),
  runs: signal<readonly InspectedRun[]>([]),
  /** How many recorded runs follow. */
  unread: signal(0),
  /** Null is the list of runs; undefined until the address or the server chooses. */
  selectedRunId: signal<string | null | undefined>(undefined),
  chosen: signal<{ readonly selection: Selection; readonly runId: string } | null>(null),
  /** The entry at the cursor; null follows the latest. */
  cursor: signal<number | null>(null),
  loaded: signal<readonly OpenedRun[]>([]),
});

type Known = ReturnType<typeof emptySignals>;

export interface Inspector extends Omit<PageSource, 'start' | 'open'>, Known {
  /** The chosen step while the cursor is still there. */
  readonly held: ReadonlySignal<Selection | null>;
  readonly view: ReadonlySignal<PanelView | null>;
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

export function createInspector(source: PageSource): Inspector {
  const known = emptySignals();
  const { selectedRunId, chosen, cursor } = known;
  const opened = new Map<string, OpenedRun>();

  function openRun(runId: string): OpenedRun {
    const cached = opened.get(runId);
    if (cached !== undefined) return cached;
    const run = new OpenedRun(runId, (states) => source.open(runId, states));
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

function listenerOf(
  known: Known,
  { openRun, selectRun }: Pick<Inspector, 'openRun' | 'selectRun'>,
  opened: ReadonlyMap<string, OpenedRun>,
): PageListener {
  return {
    connection: (state) => {
      known.connection.value = state;
    },
    hello(_, all, name, machines = {}) {
      known.machines.value = machines;
      known.continues.value = all;
      known.model.value = name;
    },
    runs(all, first, more) {
      const before = known.runs.peek();
      batch(() => {
        known.runs.value = all;
        known.unread.value = more;
      });
      for (const [runId, one] of opened) {
        const [was, now] = [before, all].map((runs) => runs.find((run) => run.runId === runId));
        // An actor that has ended may have been retried since.
        const isLonger = was?.status !== now?.status || was?.ending?.durationMs !== now?.ending?.durationMs;
        if (now?.status === 'running' || (now?.machine !== undefined && isLonger)) one.resume();
      }
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
export function viewOf(
  run: InspectedRun,
  opened: OpenedRun,
  cursor: number | null = null,
  held: Selection | null = null,
) {
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
    // What was selected, or else the step of the entry at the cursor. The address may name a step that has not arrived yet.
    selection: held !== null && held.to <= last ? held : (latest ?? selectionAt(fold, at, count.value)),
    stateCount: stateCount.value,
    states: states.value,
    end: end.value,
  };
}

/** While a long recording loads, the page updates less often: rendering each frame would take longer than loading. */
const LOADING_PUBLISH_MS = 1_000;
/** The states of a long recording arrive in many pieces, over many seconds. */
const STATES_PUBLISH_MS = 200;

/** A run the page follows. The log and the fold grow as entries arrive; `count` is updated once per frame. */
export class OpenedRun {
  readonly runId: string;
  readonly log = new RunLog();
  readonly fold = new RunFold();
  readonly count = signal(0);
  /** Changes when states arrive. */
  readonly stateCount = signal(0);
  readonly states = signal<StatesSent>('sent');
  readonly charts = signal<RunCharts | null>(null);
  /** No more entries will arrive; `problem`: why the rest is missing. */
  readonly end = signal<{ readonly problem: string | null } | null>(null);
  readonly #openAgain: (states?: true) => void;
  readonly #publishSoon = atMostOncePerFrame(() => this.#publish());
  #publishTimer: ReturnType<typeof setTimeout> | undefined;
  #stateTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(runId: string, openAgain: (states?: true) => void) {
    this.runId = runId;
    this.#openAgain = openAgain;
  }

  #publish(): void {
    clearTimeout(this.#publishTimer);
    this.#publishTimer = undefined;
    this.count.value = this.log.count;
    if (this.log.problem !== null) this.end.value = { problem: this.log.problem };
  }

  #publishStates(): void {
    clearTimeout(this.#stateTimer);
    this.#stateTimer = undefined;
    this.stateCount.value = this.fold.states.count;
  }

  add(from: number, lines: readonly string[], { more: hasMore, format }: SentLines = {}): void {
    const { log, fold } = this;
    // After a reconnect, known entries may arrive again.
    const more = lines.slice(Math.max(0, log.count - from));
    if (format === 'actor') log.add(more, fold.takeOfActor as never, fold.readOfActor);
    else log.add(more, fold.take, format === 'run' ? readEntry : null);
    if (hasMore && this.count.peek() > 0) this.#publishTimer ??= setTimeout(() => this.#publish(), LOADING_PUBLISH_MS);
    else this.#publishSoon();
  }

  addStates(from: number, frames: readonly string[]): void {
    this.fold.takeStates(from, frames);
    this.#stateTimer ??= setTimeout(() => this.#publishStates(), STATES_PUBLISH_MS);
  }

  finish(problem: string | null): void {
    batch(() => {
      this.#publish();
      this.#publishStates();
      this.end.value ??= { problem };
      const isOmitted = this.stateCount.value === 0 && this.states.value === 'sent';
      this.states.value = isOmitted && this.log.count > MAX_ENTRIES_WITH_STATES ? 'omitted' : 'sent';
    });
  }

  requestStates(): void {
    if (this.states.peek() !== 'omitted') return;
    this.states.value = 'requested';
    this.#openAgain(true);
  }

  /** Requests the entries that another process appends to an ended recording. */
  resume(): void {
    if (this.end.peek() === null || this.log.problem !== null) return;
    this.end.value = null;
    this.#openAgain();
  }
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
