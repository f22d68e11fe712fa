import type { Chart, ChartState } from '../../src/engine/charts/chart.ts';

const MOST_LEVELS = 24;

/**
 * A chart that can be walked: one root, every state once and under a state that is there, no circle of parents, and not too deep.
 * What it had beside that is put under the root. Transitions keep their places; those to or from states that are not there have no ends.
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
    ...(isSound(transition, byId) ? {} : { source: NOWHERE, target: [] }),
  }));
  return { id: chart.id, states, transitions };
}

/** Gives a state and those above it their levels, and those under the root that have no way to it. */
function settle(id: string, byId: Map<string, ChartState>, levels: Map<string, number>, rootId: string): void {
  const way: string[] = [];
  const onWay = new Set<string>();
  let at: string | null = id;
  while (at !== null && !levels.has(at) && !onWay.has(at) && byId.has(at)) {
    way.push(at);
    onWay.add(at);
    at = byId.get(at)?.parent ?? null;
  }
  for (const next of way.reverse()) {
    const state = byId.get(next) as ChartState;
    const above = state.parent === null ? undefined : levels.get(state.parent);
    const isUnder = above !== undefined && above + 1 <= MOST_LEVELS;
    levels.set(next, isUnder ? above + 1 : 1);
    if (!isUnder) byId.set(next, { ...state, parent: rootId });
  }
}

/** The source of transitions that have no ends. */
export const NOWHERE = '';

function isSound({ source, target }: Chart['transitions'][number], byId: ReadonlyMap<string, ChartState>): boolean {
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
