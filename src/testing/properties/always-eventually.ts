import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { Exploration, ExploredEdge, ExploredState } from '../exploration/exploration.ts';
import { named, pathTo } from '../exploration/paths.ts';
import type { Property, Witness } from './property.ts';
import { standing } from './states.ts';

export interface EventuallyOptions {
  /**
   * Events of actors that come only so often, for a reason that the chart does not know: a loop through one is no witness. A state to which
   * nothing else happens, and which they lead back to, is one: there it stands when there are no more of them.
   */
  readonly finitely?: (event: EventObject) => boolean;
}

/**
 * Wherever a machine stands, it comes to a state that is so, whatever its actors come to and however long they take, and if nobody sends
 * it anything more. It does not hold where it can stand for ever with no actor and no delay to move it, and where actors and delays can lead
 * it in a circle. That an actor goes on to send the same without end (a stream) is left out: each of its events is one of a finite number.
 */
export function alwaysEventually(
  name: string,
  isSo: (snapshot: AnyMachineSnapshot) => boolean,
  { finitely = () => false }: EventuallyOptions = {},
): Property {
  return {
    name: `always eventually ${name}`,
    ofWhole: true,
    check(exploration) {
      const isGoal = exploration.states.map(({ snapshot }) => isSo(snapshot));
      const all = exploration.edgesFrom.map((edges, id) => (isGoal[id] === true ? [] : edges.filter(movesByItself)));
      const moves = all.map((edges) => edges.filter(({ occurrence }) => !finitely(occurrence.event)));
      return standsFor(exploration, isGoal) ?? usedUp(exploration, all, moves) ?? circleIn(exploration, moves);
    },
  };
}

function movesByItself({ from, to, taken, occurrence: { kind } }: ExploredEdge): boolean {
  if (taken.length === 0 || kind === 'sent') return false;
  return kind === 'emitted' ? from !== to : true;
}

/** What moves a state for certain, if nobody sends anything: that an actor goes on to tell something is not. */
const isCertain = ({ taken, occurrence: { kind } }: ExploredEdge): boolean =>
  taken.length > 0 && kind !== 'sent' && kind !== 'emitted';

/** A state in which it can stand for ever: it has ended otherwise, or nothing but somebody outside can move it. */
function standsFor(exploration: Exploration, isGoal: readonly boolean[]): Witness | null {
  const found = exploration.states.find(
    ({ id }) => isGoal[id] !== true && !(exploration.edgesFrom[id] ?? []).some(isCertain),
  );
  if (found === undefined) return null;
  const ends = found.snapshot.status === 'active' ? 'stands for ever' : 'ends';
  return { what: `it ${ends} in ${standing(found)}`, path: pathTo(exploration, found.id) };
}

/** A state that is moved only by what comes so often and no more, and that it comes back to until it does not come again. */
function usedUp(exploration: Exploration, all: Moves, moves: Moves): Witness | null {
  const found = exploration.states.find(({ id }) => {
    const certain = (all[id] ?? []).filter(isCertain);
    if (certain.length === 0 || moves[id]?.some(isCertain) === true) return false;
    return certain.every((edge) => wayTo(id, [edge], all) !== null);
  });
  if (found === undefined) return null;
  const names = (all[found.id] ?? []).filter(isCertain).map(({ occurrence }) => occurrence.name);
  const what = `it stands for ever in ${standing(found)} once there is no more of ${names.join(' or ')}`;
  return { what, path: pathTo(exploration, found.id) };
}

function circleIn(exploration: Exploration, moves: Moves): Witness | null {
  const edges = shortestCycle(exploration.states, moves);
  const start = exploration.states[edges?.[0]?.from ?? -1];
  if (edges === null || start === undefined) return null;
  const { beginning, edges: before } = pathTo(exploration, start.id);
  const names = edges.map(({ occurrence }) => occurrence.name).join(' → ');
  return {
    what: `it goes in a circle from ${standing(start)} by ${names}`,
    path: named({ beginning, edges: [...before, ...edges] }),
  };
}

/** Edges out of each state, by its id. */
type Moves = readonly (readonly ExploredEdge[])[];

/** The circle that is seen by the fewest steps, those to come to it included; null where there is none. */
function shortestCycle(states: readonly ExploredState[], moves: Moves): readonly ExploredEdge[] | null {
  const core = coreOf(moves);
  let shortest: readonly ExploredEdge[] | null = null;
  let most = Number.POSITIVE_INFINITY;
  // States come in the order of their distance.
  for (const { id, depth } of states) {
    if (depth + 1 > most) break;
    const circle = wayTo(id, core[id] ?? [], core, most - depth);
    if (circle === null) continue;
    shortest = circle;
    most = depth + circle.length - 1;
  }
  return shortest;
}

/** The shortest way to a state, of at most so many steps, that begins with one of some edges. */
function wayTo(
  state: number,
  first: readonly ExploredEdge[],
  moves: Moves,
  most = Number.POSITIVE_INFINITY,
): readonly ExploredEdge[] | null {
  const before = new Map<ExploredEdge, ExploredEdge>();
  const seen = new Set<number>();
  let front = first;
  for (let steps = 1; steps <= most && front.length > 0; steps += 1) {
    const next: ExploredEdge[] = [];
    for (const edge of front) {
      if (edge.to === state) return wayOf(edge, before);
      if (seen.has(edge.to)) continue;
      seen.add(edge.to);
      for (const one of moves[edge.to] ?? []) {
        before.set(one, edge);
        next.push(one);
      }
    }
    front = next;
  }
  return null;
}

function wayOf(last: ExploredEdge, before: ReadonlyMap<ExploredEdge, ExploredEdge>): readonly ExploredEdge[] {
  const way: ExploredEdge[] = [];
  for (let edge: ExploredEdge | undefined = last; edge !== undefined; edge = before.get(edge)) way.push(edge);
  return way.reverse();
}

/** What lies on a circle, or between two: states that nothing leads on from, or to, are taken away as long as there are some. */
function coreOf(moves: Moves): Moves {
  const into: ExploredEdge[][] = moves.map(() => []);
  for (const edge of moves.flat()) into[edge.to]?.push(edge);
  const gone = new Set<number>();
  peel(moves, into, gone, ({ from }) => from);
  peel(into, moves, gone, ({ to }) => to);
  return moves.map((edges, id) => (gone.has(id) ? [] : edges.filter(({ to }) => !gone.has(to))));
}

/** Takes states away that have no edge left on one side; the edges of the other side go with them. */
function peel(side: Moves, other: Moves, gone: Set<number>, far: (edge: ExploredEdge) => number): void {
  const left = side.map((edges) => edges.filter(({ from, to }) => !gone.has(from) && !gone.has(to)).length);
  const free = [...left.keys()].filter((id) => left[id] === 0 && !gone.has(id));
  for (const id of free) {
    gone.add(id);
    for (const edge of other[id] ?? []) {
      const state = far(edge);
      if (gone.has(state)) continue;
      left[state] = (left[state] ?? 0) - 1;
      if (left[state] === 0) free.push(state);
    }
  }
}
