import type { Exploration, ExploredEdge, ExploredState } from '../exploration/exploration.ts';
import { pathOf, pathTo } from '../exploration/paths.ts';
import { describeState, describeWitness, type Property, type Witness } from './properties.ts';

/** Whether the machine did something: an event that it ignores changes nothing. */
const isTaken = ({ taken }: ExploredEdge): boolean => taken.length > 0;

/** Outgoing edges that take a transition, of each state by its id. */
const movesOf = ({ edgesFrom }: Exploration): readonly (readonly ExploredEdge[])[] =>
  edgesFrom.map((edges) => edges.filter(isTaken));

/**
 * Whatever occurs, at most `most` events take a transition before the machine has ended. A state in which nothing more can occur fails, too.
 * Time in which the machine waits for an event does not count.
 */
export function endsWithin(most: number): Property {
  return {
    name: `ends within ${most} events`,
    requiresComplete: true,
    check(exploration) {
      const moves = movesOf(exploration);
      const stuck = exploration.states.find(
        ({ id, snapshot }) => snapshot.status === 'active' && moves[id]?.length === 0,
      );
      if (stuck !== undefined)
        return { what: `it stays forever in ${describeState(stuck)}`, path: pathTo(exploration, stuck.id) };
      return longerRun(exploration, moves, most);
    },
  };
}

/** Finds a run that is still active after `most` events: layer by layer, with the edge by which each state was reached. */
function longerRun(
  { states, starts }: Exploration,
  moves: readonly (readonly ExploredEdge[])[],
  most: number,
): Witness | null {
  const isActive = (id: number): boolean => states[id]?.snapshot.status === 'active';
  let layer = new Set(starts.map(({ state }) => state).filter(isActive));
  const layers: ReadonlyMap<number, ExploredEdge>[] = [];
  while (layers.length < most && layer.size > 0) {
    const next = new Map<number, ExploredEdge>();
    for (const id of layer)
      for (const edge of moves[id] ?? []) if (isActive(edge.to) && !next.has(edge.to)) next.set(edge.to, edge);
    layers.push(next);
    layer = new Set(next.keys());
  }
  const [last] = layer;
  if (last === undefined) return null;
  const edges: ExploredEdge[] = [];
  let at = last;
  for (const reached of [...layers].reverse()) {
    const edge = reached.get(at);
    if (edge === undefined) break;
    edges.unshift(edge);
    at = edge.from;
  }
  const start = starts.find(({ state }) => state === at);
  const state = states[last];
  if (start === undefined || state === undefined) return null;
  return { what: `it is still in ${describeState(state)} after ${most} events`, path: pathOf(start, edges) };
}

/**
 * From every reachable state, some events lead to the end of the machine. Holds for a machine that has no final state on its outermost level:
 * it is not meant to end. (The option to complete: one of the three conditions of sound workflow nets, W. van der Aalst, 1997.)
 */
export const canAlwaysEnd: Property = {
  name: 'can always end',
  requiresComplete: true,
  check: (exploration) =>
    canEnd(exploration.machine.root) ? findEndless(exploration, ({ snapshot }) => snapshot.status === 'done') : null,
};

/** Finds a state from which no events lead to an end. An explored child machine ends only if each of its own states leads to an end. */
function findEndless(exploration: Exploration, isEnd: (state: ExploredState) => boolean): Witness | null {
  const { states, edges, edgesFrom, children } = exploration;
  const endless = children.map((child) =>
    findEndless(child.exploration, ({ snapshot }) => snapshot.status !== 'active'),
  );
  const inside = ({ occurrence: { kind, child = -1 } }: ExploredEdge) =>
    kind !== 'emitted' && endless[child] ? [`${children[child]?.name}: ${describeWitness(endless[child])}`] : [];
  const into = new Map<number, number[]>();
  for (const edge of edges) if (inside(edge).length === 0) into.set(edge.to, [...(into.get(edge.to) ?? []), edge.from]);
  const canReach = new Set(states.filter(isEnd).map(({ id }) => id));
  for (const id of canReach) for (const from of into.get(id) ?? []) canReach.add(from);
  const found = states.find(({ id, snapshot }) => snapshot.status === 'active' && !canReach.has(id));
  if (found === undefined) return null;
  const [cause] = edgesFrom[found.id]?.flatMap(inside) ?? [];
  const because = cause === undefined ? '' : `, because of ${cause}`;
  return {
    what: `no events lead from ${describeState(found)} to the end${because}`,
    path: pathTo(exploration, found.id),
  };
}

/** Whether a state is meant to be done: a child is final, or all regions may be done. */
function canEnd({ type, states }: Exploration['machine']['root']): boolean {
  const inner = Object.values(states).filter((one) => one.type !== 'history');
  if (type === 'parallel') return inner.length > 0 && inner.every(canEnd);
  return inner.some((one) => one.type === 'final');
}

/** No actor that always fails is started again and again without a delay, an event or a limit. */
export const noEndlessRetry: Property = {
  name: 'no endless retry without a delay',
  requiresComplete: true,
  check(exploration) {
    const { states, edgesFrom } = exploration;
    const failures = edgesFrom.map((edges) =>
      edges.filter((edge) => isTaken(edge) && edge.occurrence.kind === 'error'),
    );
    for (const { id } of states) {
      const cycle = cycleFrom(id, failures);
      const state = states[id];
      if (cycle === null || state === undefined) continue;
      const names = cycle.map(({ occurrence }) => occurrence.name).join(' → ');
      const { start, edges } = pathTo(exploration, id);
      return {
        what: `${names} leads from ${describeState(state)} back to it`,
        path: pathOf(start, [...edges, ...cycle]),
      };
    }
    return null;
  },
};

/** Returns the shortest way from a state back to itself. */
function cycleFrom(id: number, moves: readonly (readonly ExploredEdge[])[]): readonly ExploredEdge[] | null {
  const routes: (readonly ExploredEdge[])[] = (moves[id] ?? []).map((edge) => [edge]);
  const seen = new Set<number>();
  for (const route of routes) {
    const to = route.at(-1)?.to ?? id;
    if (to === id) return route;
    if (seen.has(to)) continue;
    seen.add(to);
    for (const edge of moves[to] ?? []) routes.push([...route, edge]);
  }
  return null;
}

/** Every delay that elapses takes a transition: no timer that an action has set outlives the states that wait for it. */
export const noIgnoredDelay: Property = {
  name: 'no ignored delay',
  check(exploration) {
    const { edges, states } = exploration;
    const found = edges.find((edge) => edge.occurrence.kind === 'delay' && !isTaken(edge));
    const state = states[found?.from ?? -1];
    if (found === undefined || state === undefined) return null;
    const { start, edges: before } = pathTo(exploration, found.from);
    return {
      what: `${found.occurrence.name} elapses in ${describeState(state)}, which ignores it`,
      path: pathOf(start, [...before, found]),
    };
  },
};
