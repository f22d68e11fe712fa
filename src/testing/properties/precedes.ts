import { requireKnownOptions } from '../../internal/require-known.ts';
import { activeNodes } from '../../internal/xstate-internals.ts';
import type { Exploration, ExploredEdge, ExploredState, StartState } from '../exploration/exploration.ts';
import { pathOf } from '../exploration/paths.ts';
import { spawnedActors } from '../structure/running-actors.ts';
import { describeState, type Property, type Witness } from './properties.ts';

/** What a step of a machine may do: take an event, enter a state, start an actor, or run an action. Exactly one. */
export type StepMark =
  | { readonly event: string }
  | { readonly state: string }
  | { readonly actor: string }
  | { readonly action: string };

const textOf = (mark: StepMark): string =>
  Object.entries(mark)
    .map(([kind, name]) => `${kind} "${name}"`)
    .join(' ');

/**
 * `later` never happens before `first` has: for example no payment before its approval. With `each`, `first` must happen again before each
 * further `later`. It also fails if `later` never happens, because a property with a misspelled name would always hold. A state is named by
 * its id, with or without that of the machine; an event by its type, or as in paths (`pay: done`).
 */
export function precedes(first: StepMark, later: StepMark, options: { readonly each?: boolean } = {}): Property {
  requireKnownOptions('precedes', options, 'each');
  const { each = false } = options;
  return {
    name: `${textOf(first)} before ${each ? 'each ' : ''}${textOf(later)}`,
    check: (exploration) => findUnpreceded(exploration, first, later, each),
  };
}

/** Searches states together with whether `first` has happened, nearest first. */
function findUnpreceded(exploration: Exploration, first: StepMark, later: StepMark, each: boolean): Witness | null {
  const { starts, edgesFrom, edges, states } = exploration;
  const [isFirst, isLater] = [marks(exploration, first), marks(exploration, later)];
  if (![...starts, ...edges].some(isLater))
    return {
      what: `${textOf(later)} never happens in ${exploration.machine.id}, which has ${knownNames(exploration, later)}`,
      path: null,
    };
  const seen = new Set<string>();
  const queue: Place[] = [];
  /** Returns a counterexample if the last step is one; otherwise, queues the place after it. */
  function visit(step: Step, id: number, had: boolean, way: Pick<Place, 'start' | 'last'>): Witness | null {
    const has = had || isFirst(step);
    if (isLater(step) && !has) {
      const never = [...starts, ...edges].some(isFirst) ? '' : ' (which never happens)';
      const where = describeState(states[id] as ExploredState);
      const what = `${textOf(later)} happens without ${textOf(first)}${never}, in ${where}`;
      return { what, path: pathOf(way.start, routeOf(way.last)) };
    }
    const next = has && !(each && isLater(step));
    const key = `${id} ${next}`;
    if (seen.has(key)) return null;
    seen.add(key);
    queue.push({ ...way, id, has: next });
    return null;
  }
  for (const start of starts) {
    const found = visit(start, start.state, false, { start, last: null });
    if (found !== null) return found;
  }
  // New places are appended in order of distance, so the list is its own queue.
  for (const { id, has, start, last } of queue)
    for (const edge of edgesFrom[id] ?? []) {
      const found = visit(edge, edge.to, has, { start, last: { edge, before: last } });
      if (found !== null) return found;
    }
  return null;
}

/** The last edge of a route, and the route before it. */
export interface Route {
  readonly edge: ExploredEdge;
  readonly before: Route | null;
}

/** A state, whether `first` has happened, and the shortest route there. */
interface Place {
  readonly id: number;
  readonly has: boolean;
  readonly start: StartState;
  readonly last: Route | null;
}

function routeOf(last: Route | null): readonly ExploredEdge[] {
  const edges: ExploredEdge[] = [];
  for (let at = last; at !== null; at = at.before) edges.push(at.edge);
  return edges.reverse();
}

type Step = StartState | ExploredEdge;

/** Returns whether a step does what a mark names. */
function marks({ machine, chart, states }: Exploration, mark: StepMark): (step: Step) => boolean {
  const before = (step: Step) => ('from' in step ? states[step.from]?.snapshot : undefined);
  const after = (step: Step) => states['to' in step ? step.to : step.state]?.snapshot;
  const stateOf = new Map(chart.states.map((state) => [state.id, state]));
  const enters = (step: Step, matches: (id: string) => boolean): boolean => step.entered.some(matches);
  if ('event' in mark)
    return (step) =>
      'occurrence' in step &&
      step.taken.length > 0 &&
      [step.occurrence.name, step.occurrence.event.type].includes(mark.event);
  if ('state' in mark) return (step) => enters(step, (id) => id === mark.state || id === `${machine.id}.${mark.state}`);
  if ('actor' in mark) {
    const spawned = (snapshot: ReturnType<typeof after>): number =>
      snapshot === undefined
        ? 0
        : spawnedActors(snapshot, []).filter(({ name, id }) => [name, id].includes(mark.actor)).length;
    return (step) =>
      enters(step, (id) =>
        [...(stateOf.get(id)?.invokes ?? []), ...(stateOf.get(id)?.invokeIds ?? [])].includes(mark.actor),
      ) || spawned(after(step)) > spawned(before(step));
  }
  const runsOnExit = (step: Step): boolean => {
    const [from, to] = [before(step), after(step)];
    const stays = new Set(to === undefined ? [] : activeNodes(to).map(({ id }) => id));
    return (from === undefined ? [] : activeNodes(from)).some(
      ({ id }) =>
        stateOf.get(id)?.exit?.includes(mark.action) === true && (!stays.has(id) || step.entered.includes(id)),
    );
  };
  return (step) =>
    step.taken.some((index) => chart.transitions[index]?.actions.includes(mark.action)) ||
    enters(step, (id) => stateOf.get(id)?.entry?.includes(mark.action) === true) ||
    runsOnExit(step);
}

const MAX_NAMES = 20;

/** The names that a mark of this kind may have. */
function knownNames({ chart, edges }: Exploration, mark: StepMark): string {
  const { states, transitions } = chart;
  const names =
    'event' in mark
      ? edges.filter(({ taken }) => taken.length > 0).flatMap(({ occurrence: { name } }) => name)
      : 'state' in mark
        ? states.map(({ id }) => id)
        : 'actor' in mark
          ? states.flatMap(({ invokes }) => invokes)
          : [
              ...transitions.flatMap(({ actions }) => actions),
              ...states.flatMap(({ entry = [], exit = [] }) => [...entry, ...exit]),
            ];
  const unique = [...new Set(names)];
  const listed = unique.slice(0, MAX_NAMES).join(', ');
  return unique.length === 0 ? 'none' : `${listed}${unique.length > MAX_NAMES ? ', …' : ''}`;
}
