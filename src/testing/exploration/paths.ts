import { itemsOfBeginning, itemsOfEdge } from './edge-items.ts';
import type { Beginning, Exploration, ExploredEdge } from './exploration.ts';

/** A way through a machine: how it begins, and what happens one after the other. */
export interface Path {
  /** What happens, in words: to name a test by. */
  readonly name: string;
  readonly beginning: Beginning;
  readonly edges: readonly ExploredEdge[];
}

/** The shortest path to a state, by its id. */
export function pathTo(exploration: Exploration, state: number): Path {
  const edges: ExploredEdge[] = [];
  let at = state;
  for (;;) {
    const edge = exploration.edges[exploration.states[at]?.reachedBy ?? -1];
    if (edge === undefined) break;
    edges.unshift(edge);
    at = edge.from;
  }
  const beginning = exploration.beginnings.find((one) => one.state === at) ?? exploration.beginnings[0];
  if (beginning === undefined) throw new RangeError(`There is no state ${state}.`);
  return named({ beginning, edges });
}

/** The shortest path that ends with an edge. */
export function pathThrough(exploration: Exploration, edge: ExploredEdge): Path {
  const { beginning, edges } = pathTo(exploration, edge.from);
  return named({ beginning, edges: [...edges, edge] });
}

export function named({ beginning, edges }: Omit<Path, 'name'>): Path {
  const names = edges.map(({ occurrence }) => occurrence.name);
  return { name: [beginning.name || 'from its beginning', ...names].join(' → '), beginning, edges };
}

/**
 * Few short paths that bring about everything of the chart that the exploration reached: each state, transition, guard's yes and no, end of
 * an actor and delay. With `each: 'edge'`, every edge of the exploration.
 */
export function cover(
  exploration: Exploration,
  { each = 'item' }: { readonly each?: 'item' | 'edge' } = {},
): readonly Path[] {
  const keysOf = (edge: ExploredEdge): readonly string[] =>
    each === 'edge' ? [`edge ${edge.id}`] : itemsOfEdge(exploration, edge);
  const seen = new Set<string>();
  const candidates = exploration.beginnings.map((beginning): Path => named({ beginning, edges: [] }));
  for (const beginning of exploration.beginnings)
    for (const key of itemsOfBeginning(exploration, beginning)) seen.add(key);
  // Edges come in the order of their distance: the first that brings something about ends a shortest path to it.
  for (const edge of exploration.edges) {
    const fresh = keysOf(edge).filter((key) => !seen.has(key));
    if (fresh.length === 0) continue;
    for (const key of fresh) seen.add(key);
    candidates.push(pathThrough(exploration, edge));
  }
  return withoutNeedless(candidates, (path) => [
    ...(each === 'edge' ? [`begins ${path.beginning.name}`] : itemsOfBeginning(exploration, path.beginning)),
    ...path.edges.flatMap(keysOf),
  ]);
}

/** The longest first: what a longer one brings about on its way needs no path of its own. */
function withoutNeedless(paths: readonly Path[], keysOf: (path: Path) => readonly string[]): readonly Path[] {
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
