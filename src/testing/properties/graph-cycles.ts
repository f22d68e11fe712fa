import type { ExploredEdge, ExploredState } from '../exploration/exploration.ts';

/** Edges out of each state, by its id. */
export type Moves = readonly (readonly ExploredEdge[])[];

/** The circle that is seen by the fewest steps, those to come to it included; null where there is none. */
export function shortestCycle(states: readonly ExploredState[], moves: Moves): readonly ExploredEdge[] | null {
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
export function wayTo(
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
