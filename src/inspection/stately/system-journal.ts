import { isDeepStrictEqual } from 'node:util';
import type { JournalEntry, RunStatus, RuntimeEvent, StateChange } from '../../../machines/contracts/journal.ts';
import { changesBetween, withChanges } from '../../chain/recording/state-changes.ts';
import { count } from '../../internal/printable.ts';
import type { RunCharts } from '../wire.ts';
import { activeLeaves, inferTransition, initialLeaves } from './infer-transition.ts';
import type { MachineOutline, StateOutline } from './machine-outline.ts';
import type { ActorMessage, ActorSnapshot, EventMessage, SnapshotMessage, SystemMessage } from './messages.ts';
import { createSystemCharts, type OpenedChart } from './system-charts.ts';

/** The journal of a foreign system of actors, translated from its inspector's messages. Nothing throws. */
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
  /** Returns whether the charts have changed. */
  take(message: SystemMessage, truncated: boolean): boolean;
  /** Counts messages that could not be parsed, or that named no known actor. */
  countMissing(gap: MissingMessage, times?: number): void;
  /** Whether the system has had an actor with this session id. */
  has(sessionId: string): boolean;
  /** The connection has ended. */
  close(): void;
}

export type MissingMessage = 'malformed' | 'unannounced';

export interface SystemLimits {
  /** Actors that run at the same time. */
  readonly actors: number;
  readonly entries: number;
  /** The size of all entries as JSON. */
  readonly chars?: number;
}

const MAX_CHARS = 64_000_000;
const LIMITS: SystemLimits = { actors: 1000, entries: 200_000 };
const FINAL_STATUS: Readonly<Record<string, RunStatus>> = {
  done: 'completed',
  error: 'degraded',
  stopped: 'cancelled',
};
const INIT = 'xstate.init';

export function createSystemJournal(rootId: string, limits: SystemLimits = LIMITS): SystemJournal {
  const clock = createSystemClock();
  const actors = createActorRegistry(limits.actors);
  const charts = createSystemCharts();
  const gaps = createGaps();
  const { entries, append: appendAt } = createSystemEntries(limits.entries, limits.chars ?? MAX_CHARS);
  let title = rootId;
  let status: RunStatus = 'running';
  let ended = false;

  const append = (event: SystemEvent): void => {
    if (!appendAt(event, clock.atMs)) gaps.add('full');
  };
  const contexts = createContextRecorder(append, () => entries.length);

  const recordTransition = (actor: SystemActor, event: string, { value }: ActorSnapshot): void => {
    if (actor.outline === null || actor.chart === null || value === undefined) return;
    const { root } = actor.outline;
    const before = actor.leaves;
    const leaves = activeLeaves(root, value);
    if (before?.length === leaves.length && leaves.every((leaf, index) => leaf === before[index])) return;
    actor.leaves = leaves;
    const step = before && inferTransition(event, before, leaves);
    if (step?.explained === false) gaps.add('unexplained');
    if (step?.candidates.some(({ guard }) => guard === 'inline')) gaps.add('inlineGuards');
    append({
      type: 'transition',
      machine: actor.chart,
      event,
      source: step?.source ?? root.id,
      target: leaves.map(({ id }) => id),
      candidates: step?.candidates ?? [],
    });
  };

  const endIfDone = (): void => {
    if (ended || status === 'running' || actors.running > 0) return;
    ended = true;
    append({ type: 'run-stopped' });
  };

  const recordSnapshot = (actor: SystemActor, event: string, snapshot: ActorSnapshot): void => {
    recordTransition(actor, event, snapshot);
    if (snapshot['context'] !== undefined) contexts.record(actor.name, snapshot['context']);
    const finalStatus = FINAL_STATUS[snapshot.status ?? ''];
    if (finalStatus === undefined || actor.ended) return;
    actors.end(actor);
    if (actor.chart !== null) charts.release(actor.chart);
    if (actor.sessionId === rootId) status = finalStatus;
    endIfDone();
  };

  /** Records the announced snapshot unless the actor's `xstate.init` follows. */
  const settleAnnounced = (actor: SystemActor, next: string | null): void => {
    const { announced } = actor;
    if (announced === null) return;
    actor.announced = null;
    if (next === INIT) return;
    if (!isInitial(actor, announced)) gaps.addLate(actor.name);
    recordSnapshot(actor, INIT, announced);
  };

  const takeActor = (message: ActorMessage): boolean => {
    const { sessionId } = message;
    const known = actors.get(sessionId);
    if (known !== undefined && (!known.isUnannounced || known.ended)) return false;
    const isRoot = sessionId === rootId;
    const localName = message.name || sessionId;
    const chart = actors.running < limits.actors ? charts.open(message.definition, sessionId, isRoot) : null;
    const opened = chart === 'full' ? null : chart;
    const actor: SystemActor = {
      sessionId,
      parentId: message.parentId ?? null,
      name: actors.freeName(localName, sessionId),
      outline: opened?.outline ?? null,
      chart: opened?.id ?? null,
      leaves: null,
      announced: message.snapshot ?? {},
      ended: false,
      isUnannounced: false,
    };
    if (chart === 'full') gaps.add('chartBeyondLimit');
    if (!actors.add(actor)) gaps.add('actorBeyondLimit');
    if (isRoot) title = actor.name;
    if (opened !== null) recordGaps(opened);
    if (entries.length === 0) contexts.keyframe();
    return opened !== null && (linkToParent(actor, localName) || opened.added);
  };

  /** Adds an actor that was never announced. It has no chart. */
  const addUnannounced = (sessionId: string): SystemActor | null => {
    const name = actors.freeName(sessionId, sessionId);
    const noDetails = { parentId: null, outline: null, chart: null, leaves: null, announced: null, ended: false };
    const actor = { ...noDetails, sessionId, name, isUnannounced: true };
    if (entries.length === 0) contexts.keyframe();
    if (actors.add(actor)) return actor;
    gaps.add('actorBeyondLimit');
    return null;
  };

  const recordGaps = ({ truncated, outline: { isIncomplete } }: OpenedChart): void => {
    if (truncated) gaps.add('truncated');
    if (isIncomplete) gaps.add('incompleteChart');
  };

  /** If a state of the parent invokes this machine, records it. Returns whether the charts have changed. */
  const linkToParent = ({ parentId, chart }: SystemActor, localName: string): boolean => {
    const parent = actors.get(parentId ?? '')?.outline;
    if (!parent || chart === null) return false;
    for (const { invokes } of parent.states.values())
      for (const { id, src } of invokes) if (id === localName) return charts.setInvoked(src, chart);
    return false;
  };

  const takeEvent = (actor: SystemActor, { event, sourceId }: EventMessage): void => {
    settleAnnounced(actor, event.type);
    append({ type: 'delivery', event, actor: actor.name, sender: actors.get(sourceId ?? '')?.name ?? null });
  };

  const takeSnapshot = (actor: SystemActor, { event, snapshot }: SnapshotMessage): void => {
    const type = event?.type ?? '';
    settleAnnounced(actor, type);
    if (snapshot) recordSnapshot(actor, type, snapshot);
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
      return gaps.sentences();
    },
    entries,
    get ended() {
      return ended;
    },
    charts: charts.all,
    take(message, truncated) {
      if (ended) return false;
      clock.observe(message.createdAt);
      if (truncated) gaps.add('truncated');
      if (message.type === '@xstate.actor') return takeActor(message);
      const actor = actors.get(message.sessionId) ?? addUnannounced(message.sessionId);
      if (actor === null) return false;
      if (actor.isUnannounced) gaps.add('unannounced');
      if (message.type === '@xstate.event') takeEvent(actor, message);
      else takeSnapshot(actor, message);
      return false;
    },
    countMissing: gaps.add,
    has: (sessionId) => actors.get(sessionId) !== undefined,
    close() {
      if (ended) return;
      for (const actor of actors.all()) settleAnnounced(actor, null);
      if (status === 'running') {
        status = 'interrupted';
        gaps.add('disconnected');
      }
      ended = true;
      if (entries.length > 0 && entries.at(-1)?.type !== 'run-stopped') append({ type: 'run-stopped' });
    },
  };
}

/** Whether a snapshot may be the initial one. If its states are unknown, it may be. */
function isInitial({ outline }: SystemActor, { value, status }: ActorSnapshot): boolean {
  if (outline === null || value === undefined) return status === undefined || status === 'active';
  const first = initialLeaves(outline.root);
  const leaves = activeLeaves(outline.root, value);
  return leaves.length === first.length && leaves.every((leaf) => first.includes(leaf));
}

const LEAST_ENTRIES = 256;
/** The approximate size of an entry, as in the state recorder of runs (src/chain/runtime/run.ts). */
const ENTRY_CHARS = 150;

/** Records the contexts of all actors, by name, as one state: changes, and regular keyframes. */
function createContextRecorder(append: (event: SystemEvent) => void, entryCount: () => number) {
  const contexts = new Map<string, unknown>();
  let due = 0;
  const keyframe = (): void => {
    const state = Object.fromEntries(contexts);
    append({ type: 'keyframe', state });
    due = entryCount() + Math.max(LEAST_ENTRIES, Math.ceil(JSON.stringify(state).length / ENTRY_CHARS));
  };
  const record = (actor: string, context: unknown): void => {
    const before = contexts.get(actor);
    // Contexts are parsed from JSON, so equal parts are different objects. Applying the changes lets contexts share them.
    const changes = contexts.has(actor)
      ? changesBetween(before, context, [], isDeepStrictEqual)
      : [{ path: [], value: context }];
    if (changes.length === 0) return;
    contexts.set(actor, withChanges(before, changes));
    if (entryCount() >= due) keyframe();
    else append({ type: 'state', changes: changes.map((change) => ({ ...change, path: [actor, ...change.path] })) });
  };
  // `keyframe` starts the journal, before any context is known.
  return { keyframe, record };
}

/** An actor of a system. `outline` and `chart` are null if it is not a machine. */
interface SystemActor {
  readonly sessionId: string;
  readonly parentId: string | null;
  /** Unique among running actors. */
  readonly name: string;
  readonly outline: MachineOutline | null;
  readonly chart: string | null;
  /** The innermost active states; null until they are known. */
  leaves: readonly StateOutline[] | null;
  /** The announced snapshot, until the next message shows whether `xstate.init` follows. Announcements come late, so it may be ahead. */
  announced: ActorSnapshot | null;
  ended: boolean;
  /** The actor received messages but was never announced. */
  readonly isUnannounced: boolean;
}

/** Keeps the actors of a system. Ended actors are kept for late messages, up to the limit. */
function createActorRegistry(limit: number) {
  const actors = new Map<string, SystemActor>();
  const running = new Set<string>();
  const names = new Set<string>();
  const ended = new Set<string>();
  return {
    get running() {
      return running.size;
    },
    get: (sessionId: string): SystemActor | undefined => actors.get(sessionId),
    freeName: (name: string, sessionId: string): string => (names.has(name) ? `${name} ${sessionId}` : name),
    /** Returns false if there are too many. Replaces an unannounced actor with the same session id. */
    add(actor: SystemActor): boolean {
      if (running.size >= limit && !running.has(actor.sessionId)) return false;
      names.delete(actors.get(actor.sessionId)?.name ?? actor.name);
      actors.set(actor.sessionId, actor);
      running.add(actor.sessionId);
      names.add(actor.name);
      return true;
    },
    end(actor: SystemActor): void {
      actor.ended = true;
      running.delete(actor.sessionId);
      names.delete(actor.name);
      ended.add(actor.sessionId);
      const [oldest] = ended;
      if (ended.size <= limit || oldest === undefined) return;
      ended.delete(oldest);
      actors.delete(oldest);
    },
    all: (): Iterable<SystemActor> => actors.values(),
  };
}

/** A journal event of a foreign system. */
type SystemEvent =
  | Extract<RuntimeEvent, { type: 'transition' | 'run-stopped' }>
  /** An event sent to an actor, with the sender's name if known. */
  | {
      readonly type: 'delivery';
      readonly event: { readonly type: string };
      readonly actor: string;
      readonly sender: string | null;
    }
  | { readonly type: 'state'; readonly changes: StateChange[] }
  /** The contexts of the actors, by name. */
  | { readonly type: 'keyframe'; readonly state: Readonly<Record<string, unknown>> };

/**
 * Keeps the entries of a system. The entry types describe only the events and the state of a chain; readers of a system treat both as
 * arbitrary JSON. This is the only place that casts.
 */
function createSystemEntries(limit: number, maxChars: number) {
  const entries: JournalEntry[] = [];
  let chars = 0;
  return {
    entries: entries as readonly JournalEntry[],
    /** Returns false if the journal is full. */
    append(event: SystemEvent, atMs: number): boolean {
      if (entries.length >= limit || chars > maxChars) return false;
      // A keyframe shares its values with the changes before it.
      if (event.type !== 'keyframe') chars += JSON.stringify(event).length;
      entries.push({ ...event, seq: entries.length, atMs } as unknown as JournalEntry);
      return true;
    },
  };
}

/** The latest valid Date, in milliseconds since the epoch. */
const LATEST_MS = 8_640_000_000_000_000;

/** Tracks message times relative to the first. If a time is invalid or goes back, the time of the message before counts. */
function createSystemClock() {
  let firstMs: number | null = null;
  let lastMs = 0;
  return {
    /** Takes milliseconds since the epoch, as text or number. */
    observe(createdAt: string | number | null | undefined): void {
      const ms = Number(createdAt ?? Number.NaN);
      if (!(ms > 0 && ms <= LATEST_MS)) return;
      firstMs ??= ms;
      lastMs = Math.max(lastMs, ms);
    },
    get atMs(): number {
      return firstMs === null ? 0 : lastMs - firstMs;
    },
    /** ISO 8601; empty before the first valid time. */
    get startedAt(): string {
      return firstMs === null ? '' : new Date(firstMs).toISOString();
    },
  };
}

/** What is missing from the record of a system, as sentences. `times` is how often it happened, and `late` names the late actors. */
const GAPS = {
  inlineGuards: () => 'Function guards are shown as "inline" or by their function name.',
  truncated: () => 'Deeply nested values were truncated to [Object] and [Array].',
  incompleteChart: () => 'A definition exceeds the limits on states or transitions, so its chart is incomplete.',
  lateActor: (_, late) =>
    `The start is missing for ${late.slice(0, MAX_NAMED).join(', ')}${late.length > MAX_NAMED ? ' and others' : ''}.`,
  unannounced: (times) =>
    `${count(times, 'message')} for actors that were not announced: earlier messages were lost or came late.`,
  malformed: (times) => `${count(times, 'message')} could not be parsed.`,
  unexplained: (times) => `${count(times, 'state change')} matched no transition of the chart.`,
  actorBeyondLimit: (times) => `${count(times, 'actor')} exceeded the limit and are not shown.`,
  chartBeyondLimit: (times) => `${count(times, 'machine')} exceeded the limit on charts and have no chart.`,
  full: () => 'The journal is full: the latest messages are missing.',
  disconnected: () => 'The connection closed before the program ended.',
} as const satisfies Readonly<Record<string, (times: number, late: readonly string[]) => string>>;

type Gap = keyof typeof GAPS;

const MAX_NAMED = 3;

/** What every record of a system omits or infers. */
const ALWAYS = [
  'Microsteps and actions are not reported: a transition shows the final states of its event.',
  'Transitions and guard results are inferred from the resulting states.',
  'Times are when messages were written, shortly after the event.',
];

/** Counts what is missing from the record of a system. */
function createGaps() {
  const times = new Map<Gap, number>();
  const late: string[] = [];
  return {
    add(gap: Gap, number = 1): void {
      if (number > 0) times.set(gap, (times.get(gap) ?? 0) + number);
    },
    /** Adds an actor that was announced after it had left its initial state. */
    addLate(actor: string): void {
      times.set('lateActor', 1);
      if (late.length <= MAX_NAMED) late.push(actor);
    },
    sentences: (): readonly string[] => [
      ...ALWAYS,
      ...(Object.keys(GAPS) as Gap[]).flatMap((gap) => {
        const number = times.get(gap);
        return number === undefined ? [] : [GAPS[gap](number, late)];
      }),
    ],
  };
}
