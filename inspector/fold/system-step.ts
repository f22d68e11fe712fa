import type { RunCharts, SystemState } from '../../src/inspection/wire.ts';
import type { ActorEntry } from './actor-entries.ts';
import type { ActorRecord } from './actor-log.ts';
import { chartIndexOf } from './chart-index.ts';
import { actionNames } from './chart-words.ts';
import type { FieldDifference } from './differences.ts';
import { actorIn, type ExplainedTransition, explainTransition, ignoredWords, type Transition } from './explain.ts';
import type { LoadedEntries, RunFold } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countUpTo } from './sorted.ts';
import { machineWaits } from './system-waits.ts';
import { actorName, contextDifferences, eventWords, movesText } from './system-words.ts';
import { transitionLookup } from './transition-lookup.ts';

export interface SystemView extends LoadedEntries {
  readonly count: number;
  readonly selection: Selection;
}

type Of<Type extends ActorEntry['type']> = Extract<ActorEntry, { type: Type }>;

interface StepTransition extends ExplainedTransition {
  /** The name of the actor; empty for the root. */
  readonly actor: string;
  readonly moves: string;
  /** The event in words: `on ORDER`, `without an event, after ORDER`. */
  readonly trigger: string;
  readonly actions: string;
}

interface IgnoredEvent {
  readonly words: string;
  readonly states: readonly string[];
  readonly events: readonly string[];
}

/** One external event of a system with everything that it caused. */
export interface SystemStep {
  readonly from: number;
  readonly to: number;
  /** The last entry before the next event: states are known after it. */
  readonly until: number;
  /** The event; null for the first step, and for an entry that belongs to none. */
  readonly event: Of<'delivery'> | null;
  readonly ignored: IgnoredEvent | null;
  readonly transitions: readonly StepTransition[];
  readonly calls: readonly Of<'activity-start'>[];
  readonly timers: readonly (Of<'timer-start'> & { readonly isCancelled: boolean })[];
  /** Effects, emitted events, and whatever else is recorded. */
  readonly others: readonly (Of<'effect'> | Of<'emitted'> | Of<'value'>)[];
}

/** Entries that are written between steps. */
const BETWEEN: ReadonlySet<string> = new Set(['closed', 'resumed', 'note', 'keyframe', 'effect-end', 'stopped', 'end']);

/** The last entry of the step of an entry, without what a process that leaves or continues the actor writes after it. */
export function lastEntryOfStep({ externalEvents, entries }: RunFold, seq: number, count: number): number {
  const { to } = externalEvents.stepOf(seq);
  const after = [entries.of('closed'), entries.of('resumed')].map((seqs) => seqs[countUpTo(seqs, seq)] ?? count);
  return Math.min(to, count, ...after) - 1;
}

/** Selects the latest step of an actor: its end if it failed or was stopped, its last step with a transition, or the start of a parked one. Null if there is none. */
export function lastMove({ log, fold, count }: Pick<SystemView, 'log' | 'fold' | 'count'>): Selection | null {
  const end = fold.actors.findLast(({ path }) => path === '')?.end;
  if (end != null && end.status !== 'done' && fold.entries.typeOf(end.seq) === 'end')
    return { kind: 'entry', from: end.seq, to: end.seq };
  const seq = fold.transitions.seqs.at(-1) ?? (fold.entries.typeOf(count - 1) === 'closed' ? 0 : undefined);
  if (seq === undefined) return null;
  const { from } = fold.externalEvents.stepOf(seq);
  const [event, move] = [from, seq].map((one) => log.entry(one) as { readonly actor?: unknown });
  return { kind: 'entry', from: event?.actor === move?.actor ? from : seq, to: lastEntryOfStep(fold, seq, count) };
}

const MAX_ENTRIES = 500;

/** The step of a selection. For an entry between steps, it has only that entry. */
export function systemStep({ log, fold, charts, count, selection }: SystemView): SystemStep {
  const isBetween = BETWEEN.has(fold.entries.typeOf(selection.from));
  const [from, to] = isBetween
    ? [selection.from, selection.from]
    : [fold.externalEvents.stepOf(selection.from).from, lastEntryOfStep(fold, selection.from, count)];
  const read = Array.from(
    { length: Math.min(MAX_ENTRIES, to - from + 1) },
    (_, index) => log.entry(from + index) as unknown as ActorEntry,
  );
  const of = <Type extends ActorEntry['type']>(...types: readonly Type[]) =>
    read.filter((entry): entry is Of<Type> => types.some((type) => type === entry.type));
  const [event = null] = of('delivery');
  return {
    from,
    to,
    until: isBetween ? to : Math.min(fold.externalEvents.stepOf(from).to, count) - 1,
    event,
    ignored: event === null ? null : ignoredBy({ log, fold, charts }, event),
    transitions: of('transition').map((entry) => explained(entry, fold, charts)),
    calls: of('activity-start'),
    timers: of('timer-start').map((timer) => ({ ...timer, isCancelled: isCancelled({ fold, charts }, timer, to) })),
    others: of('effect', 'emitted', 'value'),
  };
}

/** The event of an entry that led to no transition of the machine that received it, with that machine. */
function ignoredEvent({ actors }: RunFold, seq: number) {
  for (const { machine, events } of actors) {
    const ignored = events.find((one) => one.seq === seq)?.ignored ?? null;
    if (machine !== null && ignored !== null) return { machine, guards: ignored };
  }
  return null;
}

export const isIgnored = (fold: RunFold, seq: number): boolean => ignoredEvent(fold, seq) !== null;

function ignoredBy({ fold, charts }: LoadedEntries, { seq }: Of<'delivery'>): IgnoredEvent | null {
  const ignored = ignoredEvent(fold, seq);
  if (ignored === null) return null;
  const chart = chartIndexOf(charts).chart(ignored.machine);
  const { states = [], events = [] } = (chart && machineWaits(fold, chart, seq)) ?? {};
  return { words: `Ignored: ${ignoredWords(ignored.guards)}.`, states, events };
}

/** Whether the state of a timer is no longer active after its step. */
function isCancelled(
  { fold, charts }: Pick<LoadedEntries, 'fold' | 'charts'>,
  { actor, event, dueMs }: Of<'timer-start'>,
  to: number,
): boolean {
  const owner = fold.actors.findLast(({ path, from }) => path === actor && from <= to);
  if (owner === undefined || !event.startsWith('xstate.after.')) return false;
  if (owner.end !== null && owner.end.seq <= to) return true;
  const chart = chartIndexOf(charts).chart(owner.machine ?? '');
  const waits = chart && machineWaits(fold, chart, to);
  return waits?.timers.every((timer) => timer.dueMs !== dueMs) ?? false;
}

function explained(entry: Of<'transition'>, fold: RunFold, charts: RunCharts | null): StepTransition {
  const taken = entry as unknown as Transition;
  const guard = entry.candidates.find(({ result }) => result === 'taken')?.guard ?? null;
  const at = charts === null ? null : transitionLookup(charts.charts).indexOf({ ...taken, guard });
  const { actions = [] } = charts?.charts.find(({ id }) => id === entry.machine)?.transitions[at ?? -1] ?? {};
  const words = explainTransition(taken, chartIndexOf(charts));
  return {
    ...words,
    actor: entry.actor === '' ? '' : actorName({ fold, charts }, entry.actor),
    moves: movesText({ fold, charts }, [taken]),
    trigger: words.event.startsWith('without an event')
      ? words.event
      : `on ${eventWords({ fold, charts }, entry.actor, entry.event)}`,
    actions: actionNames(actions),
  };
}

/** The call that a selection is about; undefined if it is about something else. */
export const selectedCall = ({ actors }: RunFold, { kind, from }: Selection): ActorRecord | undefined =>
  kind === 'entry' ? actors.find(({ started, isCall }) => started === from && !isCall) : undefined;

/** Selects the call whose result a step begins with; the step if it begins with something else. */
export function receivedSelection(fold: RunFold, seq: number, count: number): Selection {
  const call = fold.actors.find(
    ({ machine, started, isCall, end }) => end?.seq === seq && machine === null && started !== null && !isCall,
  );
  return {
    kind: 'entry',
    from: call?.started ?? seq,
    to: call === undefined ? lastEntryOfStep(fold, seq, count) : seq,
  };
}

interface ChangedContext {
  readonly path: string;
  readonly name: string;
  readonly fields: readonly FieldDifference[];
  readonly context: unknown;
}

/** The contexts of the machines of a system after a step, with what the step changed. */
export function contextsAfter(
  fold: RunFold,
  { from, until }: Pick<SystemStep, 'from' | 'until'>,
): readonly ChangedContext[] {
  const after = Object.entries((fold.states.at(until) ?? {}) as SystemState);
  return after.flatMap(([path, { chart, context }]) => {
    if (chart === null || context == null || Object.keys(Object(context)).length === 0) return [];
    const name = path === '' ? chart : path.split('/').slice(1).map(actorIn).join(' › ');
    return [{ path, name, context, fields: contextDifferences(fold, path, from - 1, until) }];
  });
}
