import type { InspectedRun, SystemState } from '../../src/inspection/wire.ts';
import type { ActorEntry } from './actor-entries.ts';
import type { ActorRecord } from './actor-log.ts';
import { chartIndexOf } from './chart-index.ts';
import { actorIn, ignoredWords, type Transition } from './explain.ts';
import type { LoadedEntries, RunFold } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countUpTo, lastUpTo } from './sorted.ts';
import { machineWaits } from './system-waits.ts';
import { contextDifferences } from './system-words.ts';
import { currentStateFacts, explainTransition } from './why.ts';

interface SystemView extends LoadedEntries {
  readonly count: number;
  readonly selection: Selection;
}

type Of<Type extends ActorEntry['type']> = Extract<ActorEntry, { type: Type }>;

export type SystemStep = ReturnType<typeof systemStep>;

/** Entries that are written between steps. */
const BETWEEN: ReadonlySet<string> = new Set(
  'closed resumed attributes retried quarantined released note keyframe effect-end stopped end'.split(' '),
);

/** The first entries of the start and of the steps in which a machine took a transition. The number of a step is its place among them. */
export const stepStarts = ({ entries, transitions }: RunFold): readonly number[] => [
  ...new Set([0, ...transitions.seqs.map((seq) => entries.stepOf(seq).from)]),
];

/** `step 3`: the step of an entry; empty if no machine took a transition in it. */
export function stepName(fold: RunFold, seq: number): string {
  const { from } = fold.entries.stepOf(seq);
  const starts = stepStarts(fold);
  return starts.includes(from) ? `step ${countUpTo(starts, from)}` : '';
}

/** The last entry of the step of an entry, without what a process that leaves or continues the actor writes after it. */
export function lastEntryOfStep({ entries }: RunFold, seq: number, count: number): number {
  const { to } = entries.stepOf(seq);
  const after = ['closed', 'resumed', 'quarantined', 'released']
    .map((type) => entries.of(type as 'closed'))
    .map((seqs) => seqs[countUpTo(seqs, seq)] ?? count);
  return Math.min(to, count, ...after) - 1;
}

/** Selects the latest step of an actor: its end if it failed or was stopped, its last step with a transition, or the start of a parked one. Null if there is none. */
export function lastMove({ log, fold, count }: Pick<SystemView, 'log' | 'fold' | 'count'>): Selection | null {
  const end = fold.actors.findLast(({ path }) => path === '')?.end;
  if (end != null && end.status !== 'done' && fold.entries.typeOf(end.seq) === 'end')
    return { kind: 'entry', from: end.seq, to: end.seq };
  const seq = fold.transitions.seqs.at(-1) ?? (fold.entries.typeOf(count - 1) === 'closed' ? 0 : undefined);
  if (seq === undefined) return null;
  const { from } = fold.entries.stepOf(seq);
  const [event, move] = [from, seq].map((one) => log.entry(one) as { readonly actor?: unknown });
  return { kind: 'entry', from: event?.actor === move?.actor ? from : seq, to: lastEntryOfStep(fold, seq, count) };
}

const MAX_ENTRIES = 500;

/** The entries that the panel of a selection is about: a call, an effect, an entry between steps, or a whole step. */
export function shownEntries(fold: RunFold, selection: Selection, count: number): Omit<Selection, 'kind'> {
  const { kind, from, to } = selection;
  if (kind !== 'entry' || selectedCall(fold, selection) !== undefined || selectedEffect(fold, selection) !== null)
    return { from, to };
  if (BETWEEN.has(fold.entries.typeOf(from))) return { from, to: from };
  return { from: fold.entries.stepOf(from).from, to: lastEntryOfStep(fold, from, count) };
}

/** One external event of a system with everything that it caused. For an entry between steps, only that entry. */
export function systemStep({ log, fold, charts, count, selection }: SystemView) {
  const isBetween = BETWEEN.has(fold.entries.typeOf(selection.from));
  const [from, to] = isBetween
    ? [selection.from, selection.from]
    : [fold.entries.stepOf(selection.from).from, lastEntryOfStep(fold, selection.from, count)];
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
    /** The last entry before the next event: states are known after it. */
    until: isBetween ? to : Math.min(fold.entries.stepOf(from).to, count) - 1,
    /** Null for the first step, and for an entry that belongs to none. */
    event,
    /** Why nothing happened; null if something did. */
    ignored: event === null ? null : ignoredBy({ log, fold, charts }, event),
    transitions: of('transition').map((entry) => explainTransition(entry as unknown as Transition, { fold, charts })),
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

function ignoredBy({ fold, charts }: LoadedEntries, { seq }: Of<'delivery'>) {
  const ignored = ignoredEvent(fold, seq);
  if (ignored === null) return null;
  const facts = currentStateFacts(fold, chartIndexOf(charts).chart(ignored.machine), seq);
  return { words: `Ignored: ${ignoredWords(ignored.guards)}.`, facts };
}

/** Whether a timer was cancelled in the step that started it, because its state was left or its actor ended. */
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

/** The call that a selection is about; undefined if it is about something else. */
export const selectedCall = ({ actors }: RunFold, { kind, from, actor }: Selection): ActorRecord | undefined =>
  kind === 'entry'
    ? actors.find((one) =>
        actor === undefined ? one.started === from && !one.isCall : one.path === actor && one.from === from,
      )
    : undefined;

/** The open questions of an approval, or the one that was answered, which is known only if the actor was parked before. */
export function questionsOf({ log, fold: { entries }, run }: QuestionView, { events, end }: ActorRecord) {
  if (end === null) return run.waiting?.approvals ?? [];
  const given = events.findLast(({ type }) => type === 'approval.given')?.seq ?? 0;
  const [parked, answer] = [lastUpTo(entries.of('closed'), given) ?? 0, given].map((seq) => Object(log.entry(seq)));
  const { approvals = [] } = Object(parked.waiting) as Partial<NonNullable<InspectedRun['waiting']>>;
  return approvals.filter(({ id }) => id === answer.event?.id);
}

type QuestionView = Pick<SystemView, 'log' | 'fold'> & { readonly run: Pick<InspectedRun, 'waiting'> };

/** The actor whose custom action is selected, with the error that the action threw; null for other selections. */
export function selectedEffect({ actors }: RunFold, { kind, from }: Selection) {
  for (const { machine, notes, end } of kind === 'entry' ? actors : []) {
    const note = notes.find(({ seq, effect }) => seq === from && effect !== undefined);
    if (note !== undefined) return { machine, thrown: note.isFailure && end?.status === 'error' ? end : null };
  }
  return null;
}

/** The contexts of the machines of a system after a step, with what the step changed. */
export function contextsAfter(fold: RunFold, { from, until }: Pick<SystemStep, 'from' | 'until'>) {
  const after = Object.entries((fold.states.at(until) ?? {}) as SystemState);
  return after.flatMap(([path, { chart, context }]) => {
    if (chart === null || context == null || Object.keys(Object(context)).length === 0) return [];
    const name = path === '' ? chart : path.split('/').slice(1).map(actorIn).join(' › ');
    return [{ path, name, context, fields: contextDifferences(fold, path, from - 1, until) }];
  });
}
