import type { Exploration, ExploredEdge, StartState } from './exploration.ts';
import { itemsOfEdge, itemsOfStart } from './reached-items.ts';

/** A start of a machine and the events that occur after it. */
export interface Path {
  /** Names the start and the events; suits a test title. */
  readonly name: string;
  readonly start: StartState;
  readonly edges: readonly ExploredEdge[];
}

/** Returns the shortest path to a state, by its id. */
export function pathTo(exploration: Exploration, state: number): Path {
  const edges: ExploredEdge[] = [];
  let at = state;
  for (;;) {
    const edge = exploration.edges[exploration.states[at]?.reachedBy ?? -1];
    if (edge === undefined) break;
    edges.unshift(edge);
    at = edge.from;
  }
  const start = exploration.starts.find((one) => one.state === at) ?? exploration.starts[0];
  if (start === undefined) throw new RangeError(`State ${state} does not exist`);
  return pathOf(start, edges);
}

/** Returns the shortest path that ends with an edge. */
export function pathThrough(exploration: Exploration, edge: ExploredEdge): Path {
  const { start, edges } = pathTo(exploration, edge.from);
  return pathOf(start, [...edges, edge]);
}

export function pathOf(start: StartState, edges: readonly ExploredEdge[]): Path {
  const names = edges.map(({ occurrence }) => occurrence.name);
  return { name: [start.name || 'start', ...names].join(' → '), start, edges };
}

/**
 * Returns few, short paths that together reach every item that the exploration reached: states, transitions, guard results, actor outcomes
 * and delays. With `each: 'edge'`, they take every edge of the exploration.
 */
export function cover(
  exploration: Exploration,
  { each = 'item' }: { readonly each?: 'item' | 'edge' } = {},
): readonly Path[] {
  const keysOf = (edge: ExploredEdge): readonly string[] =>
    each === 'edge' ? [`edge ${edge.id}`] : itemsOfEdge(exploration, edge);
  const seen = new Set<string>();
  const candidates = exploration.starts.map((start) => pathOf(start, []));
  for (const start of exploration.starts) for (const key of itemsOfStart(exploration, start)) seen.add(key);
  // Edges are ordered by distance, so the first edge that reaches an item ends a shortest path to it.
  for (const edge of exploration.edges) {
    const fresh = keysOf(edge).filter((key) => !seen.has(key));
    if (fresh.length === 0) continue;
    for (const key of fresh) seen.add(key);
    candidates.push(pathThrough(exploration, edge));
  }
  return withoutRedundant(candidates, (path) => [
    ...(each === 'edge' ? [`start ${path.start.name}`] : itemsOfStart(exploration, path.start)),
    ...path.edges.flatMap(keysOf),
  ]);
}

/** Drops paths whose items are all reached by longer paths. */
function withoutRedundant(paths: readonly Path[], keysOf: (path: Path) => readonly string[]): readonly Path[] {
  const kept: Path[] = [];
  const covered = new Set<string>();
  for (const path of [...paths].sort((one, other) => other.edges.length - one.edges.length)) {
    const fresh = keysOf(path).filter((key) => !covered.has(key));
    if (fresh.length === 0) continue;
    for (const key of fresh) covered.add(key);
    kept.push(path);
  }
  return kept.sort((one, other) => one.edges.length - other.edges.length);
}
