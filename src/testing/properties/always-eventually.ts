import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { Exploration, ExploredEdge, ExploredState } from '../exploration/exploration.ts';
import { pathOf, pathTo } from '../exploration/paths.ts';
import { describeState, type Property, type Witness } from './properties.ts';

export interface EventuallyOptions {
  /**
   * Matches actor events that occur only finitely often, for a reason outside the chart. A cycle through one is not a counterexample. A state
   * that only such events leave, and that they lead back to, is one: the machine stays there once they stop.
   */
  readonly finitely?: (event: EventObject) => boolean;
}

/**
 * From every state, the machine reaches a matching state, whatever its actors' outcomes and however long they take, even if nothing more is
 * sent. Fails if the machine can stay in a state forever, or actors and delays can lead it through a cycle. An actor that repeats an event
 * without leaving the state (a stream) is assumed to stop.
 */
export function alwaysEventually(
  name: string,
  matches: (snapshot: AnyMachineSnapshot) => boolean,
  options: EventuallyOptions = {},
): Property {
  requireKnownOptions('alwaysEventually', options, 'finitely');
  const { finitely = () => false } = options;
  return {
    name: `always eventually ${name}`,
    requiresComplete: true,
    check(exploration) {
      const isGoal = exploration.states.map(({ snapshot }) => matches(snapshot));
      const moves = exploration.edgesFrom.map((edges, id) => (isGoal[id] === true ? [] : edges.filter(isSpontaneous)));
      const unboundedMoves = moves.map((edges) => edges.filter(({ occurrence }) => !finitely(occurrence.event)));
      return (
        findStuckState(exploration, isGoal) ??
        findExhaustedState(exploration, moves, unboundedMoves) ??
        findCycle(exploration, unboundedMoves)
      );
    },
  };
}

/** Whether actors and delays alone can take the edge. */
function isSpontaneous({ from, to, taken, occurrence: { kind } }: ExploredEdge): boolean {
  if (taken.length === 0 || kind === 'sent') return false;
  return kind === 'emitted' ? from !== to : true;
}

/** Whether the edge's event occurs if nothing else does: actors end and delays elapse, but an actor need not send events. */
const isCertain = ({ taken, occurrence: { kind } }: ExploredEdge): boolean =>
  taken.length > 0 && kind !== 'sent' && kind !== 'emitted';

/** Finds a non-matching state that is final, or that only an external event can leave. */
function findStuckState(exploration: Exploration, isGoal: readonly boolean[]): Witness | null {
  const found = exploration.states.find(
    ({ id }) => isGoal[id] !== true && !(exploration.edgesFrom[id] ?? []).some(isCertain),
  );
  if (found === undefined) return null;
  const outcome = found.snapshot.status === 'active' ? 'stays forever' : 'ends';
  return { what: `it ${outcome} in ${describeState(found)}`, path: pathTo(exploration, found.id) };
}

/** Finds a state that only finitely frequent events leave, and that each of them can lead back to. */
function findExhaustedState(exploration: Exploration, moves: Moves, unboundedMoves: Moves): Witness | null {
  const found = exploration.states.find(({ id }) => {
    const certain = (moves[id] ?? []).filter(isCertain);
    if (certain.length === 0 || unboundedMoves[id]?.some(isCertain) === true) return false;
    return certain.every((edge) => shortestRoute(id, [edge], moves) !== null);
  });
  if (found === undefined) return null;
  const names = (moves[found.id] ?? []).filter(isCertain).map(({ occurrence }) => occurrence.name);
  const what = `it stays forever in ${describeState(found)} once these events stop: ${names.join(', ')}`;
  return { what, path: pathTo(exploration, found.id) };
}

function findCycle(exploration: Exploration, moves: Moves): Witness | null {
  const cycle = shortestCycle(exploration.states, moves);
  const first = exploration.states[cycle?.[0]?.from ?? -1];
  if (cycle === null || first === undefined) return null;
  const { start, edges } = pathTo(exploration, first.id);
  const names = cycle.map(({ occurrence }) => occurrence.name).join(' → ');
  return { what: `it can cycle from ${describeState(first)} by ${names}`, path: pathOf(start, [...edges, ...cycle]) };
}

/** Outgoing edges of each state, by its id. */
type Moves = readonly (readonly ExploredEdge[])[];

/** Returns the cycle that takes the fewest steps to reach and complete; null if there is none. */
function shortestCycle(states: readonly ExploredState[], moves: Moves): readonly ExploredEdge[] | null {
  const core = cyclicCore(moves);
  let shortest: readonly ExploredEdge[] | null = null;
  let most = Number.POSITIVE_INFINITY;
  // States are ordered by depth.
  for (const { id, depth } of states) {
    if (depth + 1 > most) break;
    const cycle = shortestRoute(id, core[id] ?? [], core, most - depth);
    if (cycle === null) continue;
    shortest = cycle;
    most = depth + cycle.length - 1;
  }
  return shortest;
}

/** Returns the shortest route to a state, of at most `most` steps, that begins with one of the given edges; null if there is none. */
function shortestRoute(
  state: number,
  first: readonly ExploredEdge[],
  moves: Moves,
  most = Number.POSITIVE_INFINITY,
): readonly ExploredEdge[] | null {
  const previous = new Map<ExploredEdge, ExploredEdge>();
  const seen = new Set<number>();
  let front = first;
  for (let steps = 1; steps <= most && front.length > 0; steps += 1) {
    const next: ExploredEdge[] = [];
    for (const edge of front) {
      if (edge.to === state) return routeEndingWith(edge, previous);
      if (seen.has(edge.to)) continue;
      seen.add(edge.to);
      for (const one of moves[edge.to] ?? []) {
        previous.set(one, edge);
        next.push(one);
      }
    }
    front = next;
  }
  return null;
}

function routeEndingWith(
  last: ExploredEdge,
  previous: ReadonlyMap<ExploredEdge, ExploredEdge>,
): readonly ExploredEdge[] {
  const route: ExploredEdge[] = [];
  for (let edge: ExploredEdge | undefined = last; edge !== undefined; edge = previous.get(edge)) route.push(edge);
  return route.reverse();
}

/** Keeps the edges on or between cycles: repeatedly removes states without outgoing or without incoming edges. */
function cyclicCore(moves: Moves): Moves {
  const into: ExploredEdge[][] = moves.map(() => []);
  for (const edge of moves.flat()) into[edge.to]?.push(edge);
  const removed = new Set<number>();
  removeStatesWithout(moves, into, removed, ({ from }) => from);
  removeStatesWithout(into, moves, removed, ({ to }) => to);
  return moves.map((edges, id) => (removed.has(id) ? [] : edges.filter(({ to }) => !removed.has(to))));
}

/** Removes states with no edge left on one side, together with their edges on the other side. */
function removeStatesWithout(
  side: Moves,
  otherSide: Moves,
  removed: Set<number>,
  neighbor: (edge: ExploredEdge) => number,
): void {
  const remaining = side.map((edges) => edges.filter(({ from, to }) => !removed.has(from) && !removed.has(to)).length);
  const queue = [...remaining.keys()].filter((id) => remaining[id] === 0 && !removed.has(id));
  for (const id of queue) {
    removed.add(id);
    for (const edge of otherSide[id] ?? []) {
      const state = neighbor(edge);
      if (removed.has(state)) continue;
      remaining[state] = (remaining[state] ?? 0) - 1;
      if (remaining[state] === 0) queue.push(state);
    }
  }
}
