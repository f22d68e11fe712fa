import type { Chart, ChartState } from '../../src/diagram/chart.ts';

/** A place in a chart: the innermost states, and they with all states around them. */
export interface Stand {
  readonly leaves: readonly string[];
  readonly active: ReadonlySet<string>;
}

/** A chart to be asked by the ids of its states. */
export interface ChartIndex {
  readonly chart: Chart;
  /** The states that invoke something. */
  readonly asking: readonly ChartState[];
  state(id: string): ChartState | undefined;
  /** Where it stands when these have been entered; none: where it begins. A region that none of them lies in is where it begins. */
  entered(targets: readonly string[]): Stand;
}

const known = new WeakMap<Chart, ChartIndex>();

export function chartIndexOf(chart: Chart): ChartIndex {
  const there = known.get(chart) ?? createChartIndex(chart);
  known.set(chart, there);
  return there;
}

function createChartIndex(chart: Chart): ChartIndex {
  const byId = new Map(chart.states.map((state) => [state.id, state]));
  const children = new Map<string, ChartState[]>();
  for (const state of chart.states)
    if (state.parent !== null) children.set(state.parent, [...(children.get(state.parent) ?? []), state]);
  const root = chart.states.find(({ parent }) => parent === null);
  const stands = new Map<string, Stand>();

  function enter(targets: readonly string[]): Stand {
    const named = new Set<string>();
    for (const target of targets) {
      // Where a history leads to is not told: what is around it is entered as if for the first time.
      const state = byId.get(target);
      const from = state?.type === 'history' ? state.parent : target;
      for (let id = from; id !== null && !named.has(id); id = byId.get(id)?.parent ?? null) named.add(id);
    }
    const active = new Set<string>();
    const leaves: string[] = [];
    const descend = (state: ChartState): void => {
      active.add(state.id);
      const inner = (children.get(state.id) ?? []).filter(({ type }) => type !== 'history');
      const wanted = inner.filter(({ id }) => named.has(id));
      const next =
        state.type === 'parallel' ? inner : wanted.length > 0 ? wanted : inner.filter(({ id }) => id === state.initial);
      if (next.length === 0) leaves.push(state.id);
      for (const child of next) descend(child);
    };
    if (root !== undefined) descend(root);
    return { leaves, active };
  }

  return {
    chart,
    asking: chart.states.filter(({ invokes }) => invokes.length > 0),
    state: (id) => byId.get(id),
    entered(targets) {
      const key = targets.length === 1 ? (targets[0] ?? '') : targets.join('\n');
      const there = stands.get(key) ?? enter(targets);
      stands.set(key, there);
      return there;
    },
  };
}
