import type { Chart, ChartState } from './chart.ts';

/** All transitions between two states, as one. `dashed`: each is an event from outside, a time-out or an error. */
export interface Edge {
  readonly source: string;
  readonly target: string;
  readonly labels: readonly string[];
  readonly dashed: boolean;
  /** By their places in the chart. */
  readonly transitions: readonly number[];
}

export interface Edges {
  readonly drawn: readonly Edge[];
  readonly asText: readonly Edge[];
}

export interface EdgeOptions {
  /** Whether lines may go across the picture. Else knots are told wherever their ends stand, and so is what leads to
   * its own box, to itself or nowhere. */
  readonly roomy?: boolean;
}

/** A target of this many edges, and a source of this many, would be a knot among its siblings. */
const MANY_IN = 5;
const MANY_OUT = 6;

/**
 * The edges to draw, and those to tell in words in the state that they leave: what a compound state does as a whole, knots among
 * siblings, and a state that begins again. Every knot keeps its first edge, and every other state one edge into it, so that the
 * picture shows each way that there is.
 */
export function edgesOf(chart: Chart, view: ChartView, { roomy = true }: EdgeOptions = {}): Edges {
  const edges = mergedEdges(chart, view, roomy);
  const into = countBy(edges, ({ target }) => target);
  const outOf = countBy(edges, ({ source }) => source);
  const manyInto = (id: string): boolean => (into.get(id) ?? 0) >= MANY_IN;
  const knotted = ({ source, target }: Edge): boolean =>
    (!roomy || view.parentOf(source) === view.parentOf(target)) &&
    (manyInto(target) || (outOf.get(source) ?? 0) >= MANY_OUT);
  const nested = ({ source, target }: Edge): boolean => !roomy && isWithin(source, target, view);
  const compound = ({ source }: Edge): boolean => view.childrenOf(source).length > 0;
  const reached = new Set(edges.filter((edge) => !knotted(edge)).map(({ target }) => target));
  const drawn: Edge[] = [];
  const told: Edge[] = [];
  const shown = new Set<string>();
  for (const edge of edges) {
    const { source, target } = edge;
    const first = manyInto(target) ? !shown.has(target) : !shown.has(source) || !reached.has(target);
    const keep = !knotted(edge) || first;
    if (compound(edge) || source === target || nested(edge) || !keep) told.push(edge);
    else {
      drawn.push(edge);
      reached.add(target);
      if (knotted(edge)) shown.add(manyInto(target) ? target : source);
    }
  }
  const orphaned = told.filter((edge) => compound(edge) && !nested(edge) && isOnlyWayIn(edge, edges, view));
  return { drawn: [...drawn, ...orphaned], asText: told.filter((edge) => !orphaned.includes(edge)) };
}

/** Whether nothing else leads to the edge's target, which stands outside its source: without it the state would hang in the air. */
function isOnlyWayIn({ source, target }: Edge, edges: readonly Edge[], view: ChartView): boolean {
  return !isWithin(target, source, view) && edges.every((other) => other.target !== target || other.source === source);
}

function isWithin(id: string | null, outer: string, view: ChartView): boolean {
  return id !== null && (id === outer || isWithin(view.parentOf(id), outer, view));
}

function mergedEdges({ transitions }: Chart, view: ChartView, roomy: boolean): readonly Edge[] {
  const byEnds = new Map<string, Edge>();
  for (const [place, { source, target, event, guard, otherwise }] of transitions.entries()) {
    // What leads nowhere, or back to where it is, is told where there is no room for lines.
    for (const to of target.length === 0 && !roomy ? [source] : target) {
      const ends = { source: view.visibleAncestor(source), target: view.visibleAncestor(to) };
      // Within a state that is drawn as one nothing is seen, unless it begins again as a whole.
      if (roomy && ends.source === ends.target && (to !== ends.target || source === to)) continue;
      const key = `${ends.source} ${ends.target}`;
      const merged = byEnds.get(key) ?? { labels: [], dashed: true, transitions: [] };
      const label = labelOf(event, otherwise ? 'else' : guard);
      const outside = event !== '' && event !== 'done';
      byEnds.set(key, {
        ...ends,
        labels: [...new Set([...merged.labels, label])],
        dashed: merged.dashed && outside,
        transitions: [...new Set([...merged.transitions, place])],
      });
    }
  }
  return [...byEnds.values()];
}

function labelOf(event: string, guard: string | null): string {
  if (guard === null) return event;
  return event === '' || event === 'done' ? guard : `${event}: ${guard}`;
}

function countBy(edges: readonly Edge[], keyOf: (edge: Edge) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const edge of edges) counts.set(keyOf(edge), (counts.get(keyOf(edge)) ?? 0) + 1);
  return counts;
}

/** A chart seen down to some depth. Depth counts from the root: its children are at 1. */
export interface ChartView {
  readonly childrenOf: (id: string) => readonly ChartState[];
  /** The state that this one counts as: itself, or its deepest ancestor that is drawn. */
  readonly visibleAncestor: (id: string) => string;
  readonly initialLeaf: (id: string) => string;
  readonly nameOf: (id: string) => string;
  readonly parentOf: (id: string) => string | null;
}

export function createChartView({ states }: Chart, maxDepth: number): ChartView {
  const byId = new Map(states.map((state) => [state.id, state]));
  const depthOf = (id: string): number => {
    const parent = byId.get(id)?.parent ?? null;
    return parent === null ? 0 : depthOf(parent) + 1;
  };
  const childrenOf = (id: string): readonly ChartState[] =>
    depthOf(id) < maxDepth ? states.filter(({ parent }) => parent === id) : [];
  const seenAs = (id: string): string => (depthOf(id) <= maxDepth ? id : seenAs(byId.get(id)?.parent ?? id));
  const initialLeaf = (id: string): string => {
    const initial = byId.get(id)?.initial ?? null;
    return initial === null || childrenOf(id).length === 0 ? id : initialLeaf(initial);
  };
  const parentOf = (id: string): string | null => byId.get(id)?.parent ?? null;
  return { childrenOf, visibleAncestor: seenAs, initialLeaf, parentOf, nameOf: (id) => byId.get(id)?.name ?? id };
}
