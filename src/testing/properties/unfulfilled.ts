import type { EventObject } from 'xstate';
import type { Exploration, ExploredEdge, ExploredState } from '../exploration/exploration.ts';
import { type Path, pathOf, pathTo } from '../exploration/paths.ts';
import { describeState, describeWitness, type Witness } from './properties.ts';

/** A state in which the machine must still reach a goal. */
export interface PendingState {
  readonly state: ExploredState;
  /** The fewest steps from a start to the state while the goal is pending. */
  readonly depth: number;
  /** Returns such a path. */
  path(): Path;
}

/**
 * Finds how a machine may never reach a goal from a pending state, if nothing is sent to it: it stays in a state forever, or in a cycle of
 * events of its actors and delays. Pending states are ordered by depth; from each, every edge leads to another one or to a goal. Events that
 * match `finitely` occur only finitely often.
 */
export function findUnfulfilled(
  exploration: Exploration,
  pending: readonly PendingState[],
  finitely: (event: EventObject) => boolean,
): Witness | null {
  const isPending = new Set(pending.map(({ state }) => state.id));
  const endless = exploration.children.map((child) => endlessRun(child.exploration, finitely));
  // A child machine that was explored ends only if its own exploration always does.
  const isCertain: IsCertain = (edge) =>
    mayBeCertain(edge) && (edge.occurrence.child === undefined || endless[edge.occurrence.child] === null);
  const moves = exploration.edgesFrom.map((edges, id) => (isPending.has(id) ? edges.filter(isSpontaneous) : []));
  const unboundedMoves = moves.map((edges) => edges.filter(({ occurrence }) => !finitely(occurrence.event)));
  return (
    findStuckState(exploration, pending, isCertain, endless) ??
    findExhaustedState(pending, moves, unboundedMoves, isCertain) ??
    findCycle(pending, unboundedMoves)
  );
}

/** Whether actors and delays alone can take the edge. */
function isSpontaneous({ from, to, taken, occurrence: { kind } }: ExploredEdge): boolean {
  if (taken.length === 0 || kind === 'sent') return false;
  return kind === 'emitted' ? from !== to : true;
}

type IsCertain = (edge: ExploredEdge) => boolean;

/** Whether the edge's event occurs if nothing else does: actors end and delays elapse, but an actor need not send events. */
const mayBeCertain: IsCertain = ({ taken, occurrence: { kind } }) =>
  taken.length > 0 && kind !== 'sent' && kind !== 'emitted';

/** Finds a run that never ends. */
function endlessRun(exploration: Exploration, finitely: (event: EventObject) => boolean): Witness | null {
  const active = exploration.states.filter(({ snapshot }) => snapshot.status === 'active');
  const pending = active.map((state) => ({ state, depth: state.depth, path: () => pathTo(exploration, state.id) }));
  return findUnfulfilled(exploration, pending, finitely);
}

/** Finds a pending state that is final, or that only an external event can leave. */
function findStuckState(
  exploration: Exploration,
  pending: readonly PendingState[],
  isCertain: IsCertain,
  endless: readonly (Witness | null)[],
): Witness | null {
  const edgesOf = ({ state }: PendingState) => exploration.edgesFrom[state.id] ?? [];
  const found = pending.find((one) => !edgesOf(one).some(isCertain));
  if (found === undefined) return null;
  const outcome = found.state.snapshot.status === 'active' ? 'stays forever' : 'ends';
  const child = edgesOf(found).find(mayBeCertain)?.occurrence.child ?? -1;
  const inside =
    endless[child] && `, because of ${exploration.children[child]?.name}: ${describeWitness(endless[child])}`;
  return { what: `it ${outcome} in ${describeState(found.state)}${inside ?? ''}`, path: found.path() };
}

/** Finds a state that only finitely frequent events leave, and that each of them can lead back to. */
function findExhaustedState(
  pending: readonly PendingState[],
  moves: Moves,
  unboundedMoves: Moves,
  isCertain: IsCertain,
): Witness | null {
  const found = pending.find(({ state: { id } }) => {
    const certain = (moves[id] ?? []).filter(isCertain);
    if (certain.length === 0 || unboundedMoves[id]?.some(isCertain) === true) return false;
    return certain.every((edge) => shortestRoute(id, [edge], moves) !== null);
  });
  if (found === undefined) return null;
  const names = (moves[found.state.id] ?? []).filter(isCertain).map(({ occurrence }) => occurrence.name);
  const what = `it stays forever in ${describeState(found.state)} once these events stop: ${names.join(', ')}`;
  return { what, path: found.path() };
}

function findCycle(pending: readonly PendingState[], moves: Moves): Witness | null {
  const cycle = shortestCycle(pending, moves);
  const first = pending.find(({ state }) => state.id === cycle?.[0]?.from);
  if (cycle === null || first === undefined) return null;
  const { start, edges } = first.path();
  const names = cycle.map(({ occurrence }) => occurrence.name).join(' → ');
  const what = `it can cycle from ${describeState(first.state)} by ${names}`;
  return { what, path: pathOf(start, [...edges, ...cycle]) };
}

/** Outgoing edges of each state, by its id. */
type Moves = readonly (readonly ExploredEdge[])[];

/** Returns the cycle that takes the fewest steps to reach and complete; null if there is none. */
function shortestCycle(pending: readonly PendingState[], moves: Moves): readonly ExploredEdge[] | null {
  const core = cyclicCore(moves);
  let shortest: readonly ExploredEdge[] | null = null;
  let most = Number.POSITIVE_INFINITY;
  for (const {
    state: { id },
    depth,
  } of pending) {
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
