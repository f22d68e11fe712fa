import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';

const MAX_LEVELS = 24;

/** The most characters of a name, and of the text beside it, that are drawn. */
export const MAX_NAME = 40;
export const MAX_BADGE = 48;

/**
 * A chart that is safe to traverse: one root, unique states with existing parents, no cycles, bounded depth. Other
 * states move under the root. Transitions keep their indexes; those from or to unknown states lose their ends. Names of
 * history states begin with H.
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
  return { ...state, initial, ...(state.type === 'history' && { name: `H ${state.name}` }) };
}

const EMPTY: Omit<ChartState, 'id' | 'name'> = {
  parent: null,
  type: 'compound',
  description: '',
  initial: null,
  invokes: [],
};
