import type { Chart, ChartState } from '../../src/engine/charts/chart.ts';
import { type ChartView, createChartView, type Edge, edgesOf } from '../../src/engine/charts/edges.ts';
import { groupBy } from '../fold/group-by.ts';
import type { Drawing } from './drawing.ts';
import type { Piece } from './elk-layout.ts';
import { type Head, headOf } from './state-box.ts';

/** Larger charts are laid out only once, without trying variants. */
const MAX_VARIED_STATES = 60;

/** A chart prepared for layout. */
export interface Plan {
  readonly root: ChartState;
  /** Edges that are lines; the others are chips in the heads. */
  readonly drawn: readonly Edge[];
  /** By the id of the state that contains them. */
  readonly pieces: ReadonlyMap<string, readonly Piece[]>;
  readonly childrenOf: (id: string) => readonly ChartState[];
  readonly headOf: (state: ChartState, width: number) => Head;
  readonly insetOf: (state: ChartState) => Drawing | null;
  /** It is laid out only once, without trying variants. */
  readonly isLarge: boolean;
}

export function planOf(chart: Chart, insets: ReadonlyMap<string, Drawing>): Plan {
  const view = createChartView(chart, Number.POSITIVE_INFINITY);
  const edges = edgesOf(chart, view, { allowsLongLines: false });
  const drawn = edges.lines.filter(({ source }) => source !== DETACHED);
  const textEdges = edges.listed.filter(({ source }) => source !== DETACHED);
  const children = groupBy(chart.states, ({ parent }) => parent ?? '');
  const chips = groupBy(textEdges, ({ source }) => source);
  const root = chart.states.find(({ id }) => id === chart.id) as ChartState;
  const childrenOf = (id: string): readonly ChartState[] => children.get(id) ?? [];
  const insetOf = ({ invokes }: ChartState): Drawing | null =>
    invokes.map((name) => insets.get(name) ?? null).find((drawing) => drawing !== null) ?? null;
  return {
    root,
    drawn,
    pieces: piecesOf(drawn, view),
    childrenOf,
    insetOf,
    headOf: (state, width) =>
      headOf(
        {
          state,
          chips: chips.get(state.id) ?? [],
          nameOf: view.nameOf,
          isRoot: state === root,
          isBox: childrenOf(state.id).length > 0 || insetOf(state) !== null,
          hasNote: state.invokes.length > 0 && insetOf(state) === null,
        },
        width,
      ),
    isLarge: chart.states.length > MAX_VARIED_STATES,
  };
}

/**
 * Cuts edges at the state borders that they cross: out of the source's ancestors, across the innermost common ancestor,
 * and into the target's ancestors. The middle piece has the label.
 */
function piecesOf(edges: readonly Edge[], view: ChartView): ReadonlyMap<string, readonly Piece[]> {
  const pieces = new Map<string, Piece[]>();
  for (const [edge, { source, target, labels }] of edges.entries()) {
    const up = ancestorsOf(source, view);
    const down = ancestorsOf(target, view);
    const common = up.find((id) => down.includes(id)) ?? '';
    const out = up.slice(0, up.indexOf(common));
    const into = down.slice(0, down.indexOf(common));
    let step = 0;
    const add = (container: string, piece: Omit<Piece, 'edge' | 'step'>): void => {
      const known = pieces.get(container) ?? [];
      known.push({ edge, step, ...piece });
      pieces.set(container, known);
      step += 1;
    };
    for (const [level, id] of out.slice(0, -1).entries())
      add(out[level + 1] as string, { from: id, to: null, throughFrom: level > 0, throughTo: false, labels: [] });
    const ends = { from: out.at(-1) ?? null, to: into.at(-1) ?? null };
    add(common, { ...ends, throughFrom: out.length > 1, throughTo: into.length > 1, labels });
    for (const [level, id] of [...into.slice(0, -1).entries()].reverse())
      add(into[level + 1] as string, { from: null, to: id, throughFrom: false, throughTo: level > 0, labels: [] });
  }
  return pieces;
}

/** The state and its ancestors, up to the root. */
function ancestorsOf(id: string, view: ChartView): readonly string[] {
  const parent = view.parentOf(id);
  return parent === null ? [id] : [id, ...ancestorsOf(parent, view)];
}

const MAX_LEVELS = 24;

/**
 * A chart that is safe to traverse: one root, unique states with existing parents, no cycles, bounded depth. Other
 * states move under the root. Transitions keep their indexes; those from or to unknown states lose their ends.
 */
export function normalizeChart(chart: Chart): Chart {
  const root: ChartState = chart.states.find(({ id }) => id === chart.id) ?? {
    ...EMPTY,
    id: chart.id,
    name: chart.id,
  };
  const byId = new Map<string, ChartState>([[root.id, { ...root, parent: null }]]);
  for (const state of chart.states) if (!byId.has(state.id)) byId.set(state.id, state);
  const levels = new Map<string, number>([[root.id, 0]]);
  for (const id of byId.keys()) settle(id, byId, levels, root.id);
  const states = [...byId.values()].map((state) => withInitial(state, byId));
  const transitions = chart.transitions.map((transition) => ({
    ...transition,
    ...(hasKnownStates(transition, byId) ? {} : { source: DETACHED, target: [] }),
  }));
  return { id: chart.id, states, transitions };
}

/** Assigns levels to a state and its ancestors; moves states that do not reach the root under it. */
function settle(id: string, byId: Map<string, ChartState>, levels: Map<string, number>, rootId: string): void {
  const path: string[] = [];
  const onPath = new Set<string>();
  let at: string | null = id;
  while (at !== null && !levels.has(at) && !onPath.has(at) && byId.has(at)) {
    path.push(at);
    onPath.add(at);
    at = byId.get(at)?.parent ?? null;
  }
  for (const next of path.reverse()) {
    const state = byId.get(next) as ChartState;
    const above = state.parent === null ? undefined : levels.get(state.parent);
    const isUnder = above !== undefined && above + 1 <= MAX_LEVELS;
    levels.set(next, isUnder ? above + 1 : 1);
    if (!isUnder) byId.set(next, { ...state, parent: rootId });
  }
}

/** The source of transitions whose states are unknown. */
const DETACHED = '';

function hasKnownStates(
  { source, target }: Chart['transitions'][number],
  byId: ReadonlyMap<string, ChartState>,
): boolean {
  return byId.has(source) && target.every((id) => byId.has(id));
}

function withInitial(state: ChartState, byId: ReadonlyMap<string, ChartState>): ChartState {
  const initial = state.initial !== null && byId.get(state.initial)?.parent === state.id ? state.initial : null;
  return { ...state, initial };
}

const EMPTY: Omit<ChartState, 'id' | 'name'> = {
  parent: null,
  type: 'compound',
  description: '',
  initial: null,
  invokes: [],
};
