import type { JournalEntry, RunStatus } from '../../../machines/contracts/journal.ts';

import { changesBetween } from '../../engine/recording/state-changes.ts';
import type { RunCharts } from '../wire.ts';
import { activeLeaves, initialLeaves } from './active-states.ts';
import { createActorBook, type SystemActor } from './actor-book.ts';
import { createChartBook, type OpenedChart } from './chart-book.ts';
import { fidelityOf, nothingNoticed } from './fidelity.ts';
import { inferTransition } from './infer-transition.ts';
import type { ActorMessage, ActorSnapshot, EventMessage, SnapshotMessage, SystemMessage } from './messages.ts';
import { sharedJson } from './shared-json.ts';
import { createSystemClock } from './system-clock.ts';
import { createSystemEntries, type SystemEvent } from './system-entries.ts';

/** A system of actors as its inspector tells it, translated as it comes. Nothing in it throws. */
export interface SystemJournal {
  /** The name of the root actor. */
  readonly title: string;
  /** ISO 8601; empty before the first message with a time. */
  readonly startedAt: string;
  readonly status: RunStatus;
  readonly fidelity: readonly string[];
  readonly entries: readonly JournalEntry[];
  /** No more entries will come. */
  readonly ended: boolean;
  charts(): RunCharts;
  /** True where there are other charts than before. */
  take(message: SystemMessage, truncated: boolean): boolean;
  noteMalformed(): void;
  /** A message of it named no system that is known. */
  noteLost(): void;
  /** Whether it had an actor of this session. */
  has(sessionId: string): boolean;
  /** The connection has ended. */
  close(): void;
}

export interface SystemLimits {
  /** That live at the same time. */
  readonly actors: number;
  readonly entries: number;
  /** Of all entries, as JSON. */
  readonly chars?: number;
}

const MAX_CHARS = 64_000_000;
const LIMITS: SystemLimits = { actors: 1000, entries: 200_000 };
const OVER: Readonly<Record<string, RunStatus>> = { done: 'completed', error: 'degraded', stopped: 'cancelled' };
const INIT = 'xstate.init';

export function createSystemJournal(rootId: string, limits: SystemLimits = LIMITS): SystemJournal {
  const clock = createSystemClock();
  const actors = createActorBook(limits.actors);
  const charts = createChartBook();
  const noticed = nothingNoticed();
  const { entries, append: appendAt } = createSystemEntries(limits.entries, limits.chars ?? MAX_CHARS);
  let title = rootId;
  let status: RunStatus = 'running';
  let ended = false;

  const append = (fact: SystemEvent): void => {
    if (!appendAt(fact, clock.atMs)) noticed.full = true;
  };
  const contexts = createContextRecorder(append, () => entries.length);

  const tellStates = (actor: SystemActor, event: string, { value }: ActorSnapshot): void => {
    if (actor.outline === null || actor.chart === null || value === undefined) return;
    const { root } = actor.outline;
    const before = actor.leaves;
    const leaves = activeLeaves(root, value);
    if (before?.length === leaves.length && leaves.every((leaf, index) => leaf === before[index])) return;
    actor.leaves = leaves;
    const step = before && inferTransition(event, before, leaves);
    if (step?.explained === false) noticed.unexplained += 1;
    if (step?.candidates.some(({ guard }) => guard === 'inline')) noticed.inlineGuards = true;
    append({
      type: 'transition',
      machine: actor.chart,
      event,
      source: step?.source ?? root.id,
      target: leaves.map(({ id }) => id),
      candidates: step?.candidates ?? [],
    });
  };

  const endWhereDue = (): void => {
    if (ended || status === 'running' || actors.living > 0) return;
    ended = true;
    append({ type: 'run-stopped' });
  };

  const tell = (actor: SystemActor, event: string, snapshot: ActorSnapshot): void => {
    tellStates(actor, event, snapshot);
    if (snapshot['context'] !== undefined) contexts.tell(actor.name, snapshot['context']);
    const over = OVER[snapshot.status ?? ''];
    if (over === undefined || actor.ended) return;
    actors.end(actor);
    if (actor.chart !== null) charts.leave(actor.chart);
    if (actor.sessionId === rootId) status = over;
    endWhereDue();
  };

  /** What it was announced with counts where its beginning does not follow. */
  const settleAnnounced = (actor: SystemActor, next: string | null): void => {
    const { announced } = actor;
    if (announced === null) return;
    actor.announced = null;
    if (next === INIT) return;
    if (!isInitial(actor, announced)) noticed.late = [...noticed.late, actor.name].slice(0, 4);
    tell(actor, INIT, announced);
  };

  const takeActor = (message: ActorMessage): boolean => {
    const { sessionId } = message;
    const known = actors.get(sessionId);
    if (known !== undefined && (!known.stray || known.ended)) return false;
    const isRoot = sessionId === rootId;
    const called = message.name || sessionId;
    const chart = actors.living < limits.actors ? charts.open(message.definition, sessionId, isRoot) : null;
    const opened = chart === 'full' ? null : chart;
    const actor: SystemActor = {
      sessionId,
      parentId: message.parentId ?? null,
      name: actors.freeName(called, sessionId),
      outline: opened?.outline ?? null,
      chart: opened?.id ?? null,
      leaves: null,
      announced: message.snapshot ?? {},
      ended: false,
      stray: false,
    };
    if (chart === 'full') noticed.uncharted += 1;
    if (!actors.add(actor)) noticed.uncounted += 1;
    if (isRoot) title = actor.name;
    if (opened !== null) noteOf(opened);
    if (entries.length === 0) contexts.keyframe();
    return opened !== null && (invoke(actor, called) || opened.added);
  };

  /** Messages to an actor that is not known are told all the same, though without a chart. */
  const addStray = (sessionId: string): SystemActor | null => {
    const name = actors.freeName(sessionId, sessionId);
    const unknown = { parentId: null, outline: null, chart: null, leaves: null, announced: null, ended: false };
    const actor = { ...unknown, sessionId, name, stray: true };
    if (entries.length === 0) contexts.keyframe();
    if (actors.add(actor)) return actor;
    noticed.uncounted += 1;
    return null;
  };

  const noteOf = ({ truncated, outline: { cut } }: OpenedChart): void => {
    noticed.truncated ||= truncated;
    noticed.cut ||= cut;
  };

  /** A machine that a state of its parent invokes stands in that state. */
  const invoke = ({ parentId, chart }: SystemActor, called: string): boolean => {
    const parent = actors.get(parentId ?? '')?.outline;
    if (!parent || chart === null) return false;
    for (const { invokes } of parent.states.values())
      for (const { id, src } of invokes) if (id === called) return charts.invoke(src, chart);
    return false;
  };

  const takeEvent = (actor: SystemActor, { event, sourceId }: EventMessage): void => {
    settleAnnounced(actor, event.type);
    append({ type: 'delivery', event, actor: actor.name, sender: actors.get(sourceId ?? '')?.name ?? null });
  };

  const takeSnapshot = (actor: SystemActor, { event, snapshot }: SnapshotMessage): void => {
    const type = event?.type ?? '';
    settleAnnounced(actor, type);
    if (snapshot) tell(actor, type, snapshot);
  };

  return {
    get title() {
      return title;
    },
    get startedAt() {
      return clock.startedAt;
    },
    get status() {
      return status;
    },
    get fidelity() {
      return fidelityOf(noticed);
    },
    entries,
    get ended() {
      return ended;
    },
    charts: charts.all,
    take(message, truncated) {
      if (ended) return false;
      clock.see(message.createdAt);
      noticed.truncated ||= truncated;
      if (message.type === '@xstate.actor') return takeActor(message);
      const actor = actors.get(message.sessionId) ?? addStray(message.sessionId);
      if (actor === null) return false;
      if (actor.stray) noticed.unannounced += 1;
      if (message.type === '@xstate.event') takeEvent(actor, message);
      else takeSnapshot(actor, message);
      return false;
    },
    noteMalformed() {
      noticed.malformed += 1;
    },
    noteLost() {
      noticed.unannounced += 1;
    },
    has: (sessionId) => actors.get(sessionId) !== undefined,
    close() {
      if (ended) return;
      for (const actor of actors.all()) settleAnnounced(actor, null);
      if (status === 'running') {
        status = 'interrupted';
        noticed.brokenOff = true;
      }
      ended = true;
      if (entries.length > 0 && entries.at(-1)?.type !== 'run-stopped') append({ type: 'run-stopped' });
    },
  };
}

/** Whether it may stand at its beginning: where its states are not known, they may be those. */
function isInitial({ outline }: SystemActor, { value, status }: ActorSnapshot): boolean {
  if (outline === null || value === undefined) return status === undefined || status === 'active';
  const first = initialLeaves(outline.root);
  const leaves = activeLeaves(outline.root, value);
  return leaves.length === first.length && leaves.every((leaf) => first.includes(leaf));
}

const LEAST_ENTRIES = 256;
/** Roughly what an entry takes, as for the states of a run: see src/engine/runtime/state-recorder.ts. */
const ENTRY_CHARS = 150;

/** Tells the contexts of all actors as one state, by their names; all of it first, and then again every so often. */
function createContextRecorder(append: (fact: SystemEvent) => void, count: () => number) {
  const contexts = new Map<string, unknown>();
  let due = 0;
  const keyframe = (): void => {
    const state = Object.fromEntries(contexts);
    append({ type: 'keyframe', state });
    due = count() + Math.max(LEAST_ENTRIES, Math.ceil(JSON.stringify(state).length / ENTRY_CHARS));
  };
  const tell = (actor: string, context: unknown): void => {
    const known = contexts.has(actor);
    const before = contexts.get(actor);
    const next = sharedJson(before, context);
    if (known && next === before) return;
    contexts.set(actor, next);
    if (count() >= due) keyframe();
    else {
      const changes = known ? changesBetween(before, next, [actor]) : [{ path: [actor], value: next }];
      append({ type: 'state', changes });
    }
  };
  /** `keyframe` begins the journal, before any context is known. */
  return { keyframe, tell };
}
