import type { Chart, ChartState } from '../../src/engine/charts/chart.ts';
import { groupedBy } from './grouped-by.ts';
import { createStands, type Stand } from './stand.ts';
import { createStateTree, type StateTree } from './state-tree.ts';

/** A transition of a chart, and its place in `Chart.transitions`. */
type ChartTransition = Chart['transitions'][number] & { readonly place: number };

/** A chart that can be asked by the ids of its states. */
export interface OpenChart extends StateTree {
  readonly id: string;
  readonly states: readonly ChartState[];
  /** The states that invoke something. */
  readonly asking: readonly ChartState[];
  /** What leads out of a state, in the order in which it is tried for one event. */
  transitionsFrom(id: string): readonly ChartTransition[];
  /** Where it stands when these have been entered; none: where it begins. A region that none of them lies in is where it begins. */
  entered(targets: readonly string[]): Stand;
}

const NONE: readonly ChartTransition[] = [];
const known = new WeakMap<Chart, OpenChart>();

/** A chart, made ready once. */
export function openChart(chart: Chart): OpenChart {
  const there = known.get(chart) ?? makeReady(chart);
  known.set(chart, there);
  return there;
}

function makeReady({ id, states, transitions }: Chart): OpenChart {
  const tree = createStateTree(states);
  const bySource = groupedBy(
    transitions.map((transition, place) => ({ ...transition, place })),
    ({ source }) => source,
  );
  return {
    ...{ ...tree, id, states },
    asking: states.filter(({ invokes }) => invokes.length > 0),
    transitionsFrom: (state) => bySource.get(state) ?? NONE,
    entered: createStands(tree),
  };
}
