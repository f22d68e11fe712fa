import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts, SystemState } from '../../src/inspection/wire.ts';
import { activeStatesAt } from './active-states.ts';
import { parentPath } from './actor-entries.ts';
import { chartIndexOf, type IndexedChart, placeIn, statePath } from './chart-index.ts';
import { UNNAMED } from './format.ts';
import type { RunFold } from './run-fold.ts';
import type { MachinePosition } from './transition-log.ts';

type Transition = Chart['transitions'][number];

export type MachineWaits = NonNullable<ReturnType<typeof machineWaits>>;

/** Returns what each running machine of a system waits for at an entry. */
export function systemWaits(fold: RunFold, charts: RunCharts | null, at: number): readonly MachineWaits[] {
  if (charts === null) return [];
  // All actors of a system end with its root.
  if ((fold.actors[0]?.end?.seq ?? Number.POSITIVE_INFINITY) <= at) return [];
  const { active } = activeStatesAt(fold.transitions, charts, at);
  return chartIndexOf(charts).all.flatMap((chart) =>
    (active[chart.id]?.size ?? 0) === 0 || hasEnded(fold, chart.id, at) ? [] : (machineWaits(fold, chart, at) ?? []),
  );
}

/** Whether the machine that took the last transition of a chart has ended. */
function hasEnded({ actors, transitions }: RunFold, chartId: string, at: number): boolean {
  const since = transitions.positionAt(chartId, at)?.since ?? 0;
  return actors.some(({ machine, end }) => machine === chartId && end !== null && end.seq >= since && end.seq <= at);
}

const TIMER = 'after ';
/** Matches the events `done` and `error` of a state, and of a named actor: `search: done`. */
const END = /^(?:(?<actor>.*): )?(?:done|error)$/su;

/** The states that may be active after entering others, and the transitions that they can take, those for events of their own apart. */
function acceptedIn(chart: IndexedChart, targets: readonly string[]) {
  const { possible } = chart.entered(targets);
  const outgoing = possible.flatMap(({ id }) => chart.transitionsFrom(id));
  const forbidding = outgoing.filter((one) => !doesSomething(one) && one.guard === null);
  const accepted = outgoing.filter(
    (one) =>
      doesSomething(one) &&
      !forbidding.some(
        ({ event, source }) => event === one.event && source !== one.source && chart.isInside(source, one.source),
      ),
  );
  const events = accepted.filter(({ event }) => event !== '' && !event.startsWith(TIMER) && !END.test(event));
  return { possible, accepted, events };
}

/**
 * Returns what a machine waits for at an entry, according to its chart; guarded transitions are included. Null if it has not started by then,
 * or has ended.
 */
export function machineWaits({ transitions, timeLine, actors }: RunFold, chart: IndexedChart, at: number) {
  const own = actors.filter(({ machine, from }) => machine === chart.id && from <= at);
  if (own.length > 0 && own.every(({ end }) => end !== null && end.seq <= at)) return null;
  const position = transitions.positionAt(chart.id, at);
  if (position === undefined) return null;
  const { targets, since } = position;
  const { possible, accepted, events } = acceptedIn(chart, targets);
  const placeOf = (id: string): string => enteredPlace(chart, id, transitions.positionsOf(chart.id), at);
  /** If a timer is not recorded, its due time is known only for the state that was entered last, which started its timers then. */
  const timerOf = ({ event, source }: Transition) => {
    const delay = event.slice(TIMER.length);
    const computed = targets.includes(source) ? timeLine.atMs(since) + Number(delay) : Number.NaN;
    const dueMs = transitions.dueAt(own.at(-1)?.path ?? '', `xstate.after.${delay}.${source}`, at) ?? computed;
    return {
      delay,
      dueMs: Number.isFinite(dueMs) ? dueMs : null,
      leadsTo: leadsTo(chart, accepted, placeOf, { event, source }),
    };
  };
  const timers = accepted.filter(({ event }) => event.startsWith(TIMER));
  const onlyInvokes = (id: string): boolean =>
    (chart.state(id)?.invokes.length ?? 0) > 0 && chart.childrenOf(id).length === 0;
  const ends = accepted.filter(
    ({ event, source }) => event.endsWith('done') && END.test(event) && !(event === 'done' && onlyInvokes(source)),
  );
  return {
    machine: chart.id,
    states: targets.map((id) => statePath(chart, id)),
    events: distinct(events.map(({ event }) => event)),
    /** By event: `paying if isSmall; waiting otherwise`. */
    leadsTo: Object.fromEntries(events.map(({ event }) => [event, leadsTo(chart, events, placeOf, { event })])),
    /** `dueMs`: since the start of the system; null if it is unknown. */
    timers: [...new Map(timers.map((one) => [`${one.source} ${one.event}`, timerOf(one)])).values()].filter(
      ({ dueMs }) => dueMs !== -1,
    ),
    /** The actors that its states invoke. */
    actors: distinct(possible.flatMap(({ invokes }) => invokes)),
    /** States with a transition for when their child states finish, and named actors with a transition for when they finish. */
    ends: distinct(ends.map(({ event, source }) => END.exec(event)?.groups?.['actor'] ?? statePath(chart, source))),
  };
}

/** Where an actor continues from an entry, or after the end of a call in its state there, and the events accepted then; null if that depends on what happens. */
export function continuesIn({ transitions }: RunFold, chart: IndexedChart, at: number, call: string | null) {
  const { targets = [] } = transitions.positionAt(chart.id, at) ?? {};
  const now = chart.entered(targets);
  const ways = now.possible.flatMap(({ id, invokes }) =>
    chart
      .transitionsFrom(id)
      .filter(({ event }) => event === `${call}: done` || (event === 'done' && invokes.includes(call ?? ''))),
  );
  const [{ target, guard } = { target: [], guard: null }] = ways;
  if (call !== null && (ways.length !== 1 || guard !== null || now.leaves.length > 1)) return null;
  const next = call === null || target.length === 0 ? targets : target;
  const { events, accepted } = acceptedIn(chart, next);
  if (accepted.some(({ event }) => event === '')) return null;
  return {
    states: chart.entered(next).leaves.map((id) => statePath(chart, id)),
    events: distinct(events.map(({ event }) => event)),
  };
}

/** Where the transitions for an event lead, in the order in which they are tried. */
function leadsTo(
  chart: IndexedChart,
  transitions: readonly Transition[],
  placeOf: (id: string) => string,
  { event, source }: Pick<Transition, 'event'> & Partial<Pick<Transition, 'source'>>,
): string {
  const ways = transitions.filter((one) => one.event === event && (source === undefined || one.source === source));
  return ways
    .map(({ target, guard, otherwise, source: from }) => {
      const places = target.map(placeOf).join(', ') || `stays in ${placeIn(chart, from)}`;
      const condition =
        guard === null ? (otherwise ? ' otherwise' : '') : ` if ${guard === UNNAMED ? 'a guard holds' : guard}`;
      return `${places}${condition}`;
    })
    .join('; ');
}

/** Where entering a state leads at an entry. For a history state, the state that was left: `underway › unloading, as it was left`; `underway, as it was left` if that is unknown. */
function enteredPlace(chart: IndexedChart, id: string, positions: readonly MachinePosition[], at: number): string {
  const { type, parent } = chart.state(id) ?? {};
  if (type !== 'history' || parent == null) return placeIn(chart, id);
  const isInside = (one: string): boolean => one !== parent && chart.isInside(one, parent);
  const last = positions.findLast(({ since, targets }) => since <= at && targets.some(isInside));
  const isCurrent = positions.findLast(({ since }) => since <= at) === last;
  const isKnown = !isCurrent && last?.targets.every((one) => chart.state(one)?.type !== 'history');
  // Shallow and deep histories enter this state, whatever is inside it.
  const left = isKnown
    ? chart.childrenOf(parent).filter((child) => last?.targets.some((one) => chart.isInside(one, child.id)))
    : [];
  return `${placeIn(chart, left.length === 1 && left[0] ? left[0].id : parent)}, as it was left`;
}

/** The states that each answer to an approval enters, according to a replay: `charging`, `stays in asking`; empty if they are unknown. */
export function answersLeadTo({ states }: RunFold, charts: RunCharts | null, approvalId: string, at: number) {
  const actors = Object(states.at(at)) as SystemState;
  const [path = '', asked] = Object.entries(actors).find(([, { answers }]) => answers?.id === approvalId) ?? [];
  const { chart: chartId = null, leaves = [] } = actors[parentPath(path)] ?? {};
  const chart = chartIndexOf(charts).chart(chartId ?? '');
  const wordsOf = (after: readonly string[] = []): string => {
    const entered = after.filter((leaf) => !leaves.includes(leaf));
    const names = (entered.length > 0 ? entered : after).map((id) => placeIn(chart, id)).join(', ');
    return entered.length > 0 || names === '' ? names : `stays in ${names}`;
  };
  return { approve: wordsOf(asked?.answers?.approve), deny: wordsOf(asked?.answers?.deny) };
}

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)];

/** Whether a transition has a target or actions. One with neither only keeps outer states from handling the event. */
const doesSomething = ({ target, actions }: Transition): boolean => target.length > 0 || actions.length > 0;
