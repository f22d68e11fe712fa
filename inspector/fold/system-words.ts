import microdiff from 'microdiff';
import { eventMatches } from '../../src/durable/charts/taken-transitions.ts';
import { type ActorPath, idAt } from '../../src/durable/entries.ts';
import type { RunCharts, SystemState } from '../../src/inspection/wire.ts';
import { endReportedBy, parentPath } from './actor-entries.ts';
import type { ActorRecord } from './actor-log.ts';
import { ancestorsOf, chartIndexOf, type IndexedChart, placeIn } from './chart-index.ts';
import { actorIn, humanizeEvent, type Transition } from './explain.ts';
import { capitalize, formatDuration, UNNAMED } from './format.ts';
import type { LoadedEntries, RunFold } from './run-fold.ts';
import { excerpt, jsonExcerpt } from './text.ts';
import { INIT } from './transition-log.ts';

interface Named {
  readonly fold: Pick<RunFold, 'actors'>;
  readonly charts?: RunCharts | null;
}

/** The name of an actor. An unnamed one has that of the logic that its state invokes, if the chart is known. */
export function actorName({ fold: { actors }, charts = null }: Named, path: ActorPath): string {
  const actor = actors.findLast((one) => one.path === path);
  const [, index = '', state = ''] = /^(\d+)\.(.*)$/su.exec(idAt(path)) ?? [];
  if (actor === undefined || state === '') return actor?.name ?? actorIn(path);
  const parent = actors.findLast((one) => one.path === parentPath(path))?.machine ?? '';
  const invoked = chartIndexOf(charts).chart(parent)?.state(state)?.invokes[Number(index)] ?? UNNAMED;
  return invoked === UNNAMED ? actor.name : invoked;
}

/** An event type in words for its receiver: the end of an actor has the name of that actor. */
export function eventWords(named: Named, receiver: ActorPath, type: string): string {
  if (type === INIT) return 'Started';
  const ended = endReportedBy(receiver, type);
  if (ended === null) return humanizeEvent(type);
  return `${actorName(named, ended.path)} ${ended.status === 'done' ? 'finished' : 'failed'}`;
}

/** The event of a transition: `on ORDER`. The journal records an eventless one with the event that led to its state; the chart tells them apart. */
export function triggerText(named: Named, { actor = '', machine, event, source, target }: Transition): string {
  const words = event === INIT ? humanizeEvent(event) : eventWords(named, actor, event);
  const ways = (
    chartIndexOf(named.charts ?? null)
      .chart(machine)
      ?.transitionsFrom(source) ?? []
  ).filter((way) => way.target.length === target.length && way.target.every((id, at) => id === target[at]));
  const matchesByName = ways.some((way) => way.event !== '' && eventMatches(way.event, event, source));
  if (matchesByName || ways.every((way) => way.event !== '')) return event === '' ? words : `on ${words}`;
  return `without an event, after ${words.replace(/^after /u, '')}`;
}

/** The innermost state that is entered with a state, down to the first parallel one; the state itself if its history decides that. */
function enteredLeaf(chart: IndexedChart, id: string): string {
  const seen = new Set<string>();
  let leaf = id;
  for (let state = chart.state(id); state !== undefined && !seen.has(state.id); state = chart.state(leaf)) {
    seen.add(state.id);
    if (state.type !== 'compound' || state.initial === null) break;
    leaf = state.initial;
  }
  return chart.state(leaf)?.type === 'history' ? id : leaf;
}

/** Whether a machine can be in a state when it starts. If it cannot, it was running when it was first observed. */
export function isInitial(chart: IndexedChart | undefined, id: string): boolean {
  const initial = chart?.root?.initial ?? '';
  return chart?.state(initial) === undefined || chart.isInside(id, initial);
}

/** A state, beside the one that is left for it. Without a chart, its id tells its path. */
function placeOf(chart: IndexedChart | undefined, machine: string, id: string, beside: string): string {
  if (chart?.state(id) !== undefined) return excerpt(placeIn(chart, id, beside), 120);
  if (!id.startsWith(`${machine}.`)) return excerpt(id, 120);
  const path = id.slice(machine.length + 1).split('.');
  const isSibling = path.length > 1 && beside.startsWith(id.slice(0, id.lastIndexOf('.') + 1));
  return excerpt(isSibling ? (path.at(-1) ?? '') : path.join(' › '), 120);
}

/** States with their regions: `flight › asking, hotel › booking`. */
export const statesText = (chart: IndexedChart | undefined, machine: string, ids: readonly string[], beside = '') =>
  ids.map((id) => placeOf(chart, machine, chart === undefined ? id : enteredLeaf(chart, id), beside)).join(', ');

/** The inner state that a transition of an outer state left, if it left only one; otherwise the source of the transition. */
function leftState(
  chart: IndexedChart | undefined,
  { transitions }: RunFold,
  { machine, source, seq }: Transition,
): string {
  const targets = chart === undefined ? [] : (transitions.positionAt(machine, seq - 1)?.targets ?? []);
  const [left, ...others] = targets.filter((id) => chart?.isInside(id, source));
  return chart === undefined || left === undefined || others.length > 0 ? source : enteredLeaf(chart, left);
}

/** The outer state that handled an event in place of the inner one that was left: `on`; empty if that did. */
export function handledBy(
  named: { readonly charts: RunCharts | null; readonly fold: RunFold },
  move: Transition,
): string {
  const chart = chartIndexOf(named.charts).chart(move.machine);
  const left = leftState(chart, named.fold, move);
  const from = placeOf(chart, move.machine, left, '');
  const isOuter = move.target.length > 0 && left !== move.source;
  return isOuter ? withoutPrefix(placeOf(chart, move.machine, move.source, ''), from) : '';
}

/** One transition: `flight › asking → booking`. */
function moveText(chart: IndexedChart | undefined, machine: string, fold: RunFold, move: Transition): string {
  const { source, target } = move;
  const left = target.length === 0 ? source : leftState(chart, fold, move);
  const from = placeOf(chart, machine, left, '');
  if (target.length === 0) return source === machine || chart?.root?.id === source ? '' : `stays in ${from}`;
  if (left === source) {
    const beside = target.length === 1 ? source : '';
    return `${from} → ${withoutPrefix(statesText(chart, machine, target, beside), from)}`;
  }
  return `${from} → ${withoutPrefix(statesText(chart, machine, target), from)}`;
}

/** The path of a state without the outer states that the path before it has named: `on › idle` after `engine › off`. */
function withoutPrefix(path: string, before: string): string {
  const [states, named] = [path, before].map((one) => one.split(' › ')) as [string[], string[]];
  const same = states.findIndex((state, at) => state !== named[at]);
  return path.includes(', ') ? path : states.slice(same < 0 ? -1 : same).join(' › ');
}

const MAX_MOVES = 4;

/** The transitions of a step: `flight › asking → booking`. Those that follow at once continue the line. */
export function movesText(
  { charts, fold }: { readonly charts: RunCharts | null; readonly fold: RunFold },
  moves: readonly Transition[],
): string {
  const texts: string[] = [];
  let last: Transition | undefined;
  for (const move of moves.slice(0, MAX_MOVES)) {
    const chart = chartIndexOf(charts).chart(move.machine);
    const machine = fold.charts.get(move.machine)?.of ?? move.machine;
    const text = moveText(chart, machine, fold, move);
    const [before] = last?.target.length === 1 ? last.target : [];
    const continues =
      before !== undefined &&
      move.target.length > 0 &&
      (before === move.source || (chart !== undefined && enteredLeaf(chart, before) === move.source));
    if (continues) texts.push(`${texts.pop()} → ${statesText(chart, machine, move.target)}`);
    else if (text !== '') texts.push(text);
    last = move;
  }
  if (moves.length > MAX_MOVES) texts.push(`and ${moves.length - MAX_MOVES} more`);
  return texts.join('; ');
}

type Candidate = Transition['candidates'][number];

/** The guards that a step evaluated, with the values they compared: `isCheap held (price 380, limit 400)`. */
export const guardsText = (candidates: readonly Candidate[]): string =>
  candidates
    .filter(({ guard, result }) => guard !== null && result !== 'not-evaluated')
    .map(({ guard, result, inputs }) => {
      const values = Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${jsonExcerpt(value, 40)}`);
      const name = guard === UNNAMED ? 'unnamed guard' : excerpt(guard ?? '', 60);
      return `${name} ${result === 'taken' ? 'held' : 'did not hold'}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
    })
    .join(', ');

/** What changed in the context of an actor between two entries. Nothing if it is not the same actor. */
export function contextDifferences(
  { states }: RunFold,
  path: ActorPath,
  from: number,
  to: number,
): readonly FieldDifference[] {
  const [before, after] = [from, to].map((seq) => ((states.at(seq) ?? {}) as SystemState)[path]);
  if (before === undefined || after === undefined || before.started !== after.started) return [];
  if (before.context === after.context) return [];
  return changedFields(Object(before.context), Object(after.context));
}

/** How late the timer of an event fired; empty if it was on time, or if the event is not from a timer. */
export function lateText({ timeLine, transitions }: RunFold, actor: ActorPath, event: string, seq: number): string {
  const dueMs = event.startsWith('xstate.after.') ? transitions.dueAt(actor, event, seq - 1) : null;
  const lateMs = dueMs === null || dueMs < 0 ? 0 : timeLine.atMs(seq) - dueMs;
  return lateMs < MIN_LATE_MS ? '' : `${formatDuration(lateMs)} late`;
}

/** A running process fires its timers sooner than this. */
const MIN_LATE_MS = 1_000;

/** The members that match an answer to its approval. A person gave the others: decision, reason and author. */
const APPROVAL_IDS: ReadonlySet<string> = new Set(['id', 'digest', 'shownDigest']);

interface Answer {
  readonly decision?: string;
  readonly edited?: unknown;
  readonly by?: string;
  readonly reason?: string;
}

/** The answer to an approval, in words: `denied by Ada: too dear`. */
export function answerWords(event: object): string {
  const { decision, edited, by, reason } = event as Answer;
  const words = [
    decision === 'deny' ? 'denied' : 'approved',
    edited === undefined ? '' : 'with edits',
    by && `by ${excerpt(by, 60)}`,
  ];
  return `${words.filter(Boolean).join(' ')}${reason ? `: ${excerpt(reason, 160)}` : ''}`;
}

/** The answer that ended an approval; empty for any other actor. */
export function answerText(log: LoadedEntries['log'], { events, end }: Pick<ActorRecord, 'events' | 'end'>): string {
  const last = events.at(-1);
  if (last?.type !== 'approval.given' || end?.status !== 'done') return '';
  return answerWords(Object((log.entry(last.seq) as { readonly event?: unknown }).event));
}

/** Returns the members of an event that a reader needs. */
export const eventMembers = ({
  type,
  ...members
}: {
  readonly type?: string;
}): readonly (readonly [string, unknown])[] =>
  Object.entries(members).filter(([name]) => type !== 'approval.given' || !APPROVAL_IDS.has(name));

/** The message of an error, or its value as JSON. */
export function errorText(error: unknown): string {
  const { message = error } = Object(error) as { readonly message?: unknown };
  return typeof message === 'string' ? message : jsonExcerpt(message, 200);
}

/** A changed value in a state. `before` or `after` is undefined if there is none. */
export interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export const changedFields = (before: object, after: object): readonly FieldDifference[] =>
  microdiff(before, after, { cyclesFix: false }).map((difference) => ({
    path: difference.path.join('.'),
    before: difference.type === 'CREATE' ? undefined : difference.oldValue,
    after: difference.type === 'REMOVE' ? undefined : difference.value,
  }));

/** JavaScript names an inline function after its property: such an action has no name of its own. */
const UNNAMED_ACTIONS: ReadonlySet<string> = new Set(['entry', 'exit', 'actions']);

/** `Entry action of failed: notify`: an effect with the state whose action it is; without one in the chart, `Action notify in failed`. */
export function effectWords({ log, fold, charts }: LoadedEntries, machine: string | null, seq: number): string {
  const { action } = log.entry(seq) as unknown as { readonly action: string };
  const chart = chartIndexOf(charts).chart(machine ?? '');
  const { from, to } = fold.entries.stepOf(seq);
  const targetsAt = (at: number) => fold.transitions.positionAt(machine ?? '', at)?.targets ?? [];
  const nameOf = (id: string) => statesText(chart, fold.charts.get(machine ?? '')?.of ?? machine ?? '', [id]);
  const name = UNNAMED_ACTIONS.has(action) ? '' : excerpt(action, 80);
  for (const [kind, at] of [
    ['entry', to - 1],
    ['exit', from - 1],
  ] as const) {
    const around = targetsAt(at).flatMap((id) => (chart === undefined ? [] : ancestorsOf(chart, id)));
    const listed = name !== '' ? action : kind === action ? UNNAMED : '';
    const state = around.find((one) => one[kind]?.includes(listed));
    if (state !== undefined) return `${capitalize(kind)} action of ${nameOf(state.id)}${name && `: ${name}`}`;
  }
  const states = targetsAt(to - 1)
    .map(nameOf)
    .join(', ');
  return `Action${name && ` ${name}`}${states && ` in ${states}`}`;
}
