import type { Chart, ChartState } from '../../src/diagram/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';

type ChartTransition = Chart['transitions'][number];

/** A chart that can be asked by the ids of its states. */
export interface OpenChart {
  readonly id: string;
  state(id: string): ChartState | undefined;
  childrenOf(id: string): readonly ChartState[];
  /** Its ways out, in the order in which they are tried for one event. */
  waysFrom(id: string): readonly ChartTransition[];
  readonly root: ChartState | undefined;
  readonly states: readonly ChartState[];
}

export interface ChartBook {
  chart(machine: string): OpenChart | undefined;
  /** The one that the run is on; undefined where there is none. */
  readonly first: OpenChart | undefined;
  readonly all: readonly OpenChart[];
}

const EMPTY: ChartBook = { chart: () => undefined, first: undefined, all: [] };
const opened = new WeakMap<RunCharts, ChartBook>();

/** The charts of a run, made ready once. */
export function chartBook(charts: RunCharts | null): ChartBook {
  if (charts === null) return EMPTY;
  const known = opened.get(charts);
  if (known !== undefined) return known;
  const all = charts.charts.map(openChart);
  const byId = new Map(all.map((chart) => [chart.id, chart]));
  const book: ChartBook = { chart: (machine) => byId.get(machine), first: all[0], all };
  opened.set(charts, book);
  return book;
}

const NONE: readonly never[] = [];

function openChart({ id, states, transitions }: Chart): OpenChart {
  const byId = new Map(states.map((state) => [state.id, state]));
  const children = groupedBy(states, ({ parent }) => parent ?? '');
  const ways = groupedBy(transitions, ({ source }) => source);
  return {
    ...{ id, states },
    root: children.get('')?.[0],
    state: (state) => byId.get(state),
    childrenOf: (state) => children.get(state) ?? NONE,
    waysFrom: (state) => ways.get(state) ?? NONE,
  };
}

function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** A state and those around it, from the inside out. */
export function outwards(chart: OpenChart, id: string): readonly ChartState[] {
  const path: ChartState[] = [];
  for (let state = chart.state(id); state !== undefined; state = chart.state(state.parent ?? '')) path.push(state);
  return path;
}

/** The names of a state and those around it but the root: `cycling › yield › deciding`. Its id where the chart does not know it. */
export function pathInWords(chart: OpenChart | undefined, id: string): string {
  const path = chart === undefined ? [] : outwards(chart, id);
  if (path.length < 2) return path[0]?.name ?? id;
  return path
    .slice(0, -1)
    .map(({ name }) => name)
    .reverse()
    .join(' › ');
}

export const nameIn = (chart: OpenChart | undefined, id: string): string => chart?.state(id)?.name ?? id;
