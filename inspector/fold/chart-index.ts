import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { groupBy } from './group-by.ts';

export interface ChartIndex {
  chart(machine: string): IndexedChart | undefined;
  /** The run's own chart; undefined if there is none. */
  readonly first: IndexedChart | undefined;
  readonly all: readonly IndexedChart[];
}

const EMPTY: ChartIndex = { chart: () => undefined, first: undefined, all: [] };
const indexes = new WeakMap<RunCharts, ChartIndex>();

/** Cached. */
export function chartIndexOf(charts: RunCharts | null): ChartIndex {
  if (charts === null) return EMPTY;
  const cached = indexes.get(charts);
  if (cached !== undefined) return cached;
  const all = charts.charts.map(indexChart);
  const byId = new Map(all.map((chart) => [chart.id, chart]));
  const index: ChartIndex = { chart: (machine) => byId.get(machine), first: all[0], all };
  indexes.set(charts, index);
  return index;
}

/** A transition with its index in `Chart.transitions`. */
type ChartTransition = Chart['transitions'][number] & { readonly index: number };

export interface IndexedChart extends StateTree {
  readonly id: string;
  readonly states: readonly ChartState[];
  readonly invoking: readonly ChartState[];
  /** The transitions of a state, in the order in which they are tried for one event. */
  transitionsFrom(id: string): readonly ChartTransition[];
  /**
   * The configuration after entering these states. With none, and for regions without one, the initial configuration.
   */
  entered(targets: readonly string[]): RecordedStates;
}

const NO_TRANSITIONS: readonly ChartTransition[] = [];
const indexedCharts = new WeakMap<Chart, IndexedChart>();

/** Cached. */
export function indexChart(chart: Chart): IndexedChart {
  const cached = indexedCharts.get(chart) ?? createIndexedChart(chart);
  indexedCharts.set(chart, cached);
  return cached;
}

function createIndexedChart({ id, states, transitions }: Chart): IndexedChart {
  const tree = createStateTree(states);
  const bySource = groupBy(
    transitions.map((transition, index) => ({ ...transition, index })),
    ({ source }) => source,
  );
  return {
    ...tree,
    id,
    states,
    invoking: states.filter(({ invokes }) => invokes.length > 0),
    transitionsFrom: (state) => bySource.get(state) ?? NO_TRANSITIONS,
    entered: createConfigurations(tree),
  };
}

export interface RecordedStates {
  /** The innermost states. */
  readonly leaves: readonly string[];
  /** The leaves and all their ancestors. */
  readonly active: ReadonlySet<string>;
  /**
   * The active states, plus every state that may be active but is not recorded (other regions, targets of a history).
   * Inner states come first.
   */
  readonly possible: readonly ChartState[];
}

/** Computes configurations from entered states; caches each. */
function createConfigurations(tree: StateTree): (targets: readonly string[]) => RecordedStates {
  const known = new Map<string, RecordedStates>();
  return (targets) => {
    const key = targets.length === 1 ? (targets[0] ?? '') : targets.join('\n');
    const cached = known.get(key) ?? configurationOf(tree, targets);
    known.set(key, cached);
    return cached;
  };
}

function configurationOf(tree: StateTree, targets: readonly string[]): RecordedStates {
  const named = new Set<string>();
  const leaves: string[] = [];
  const active = new Set<string>();
  const unrecorded: string[] = [];
  for (const target of targets) {
    // The journal does not record where a history leads; assume the initial state of its parent.
    const state = tree.state(target);
    const from = state?.type === 'history' ? (state.parent ?? target) : target;
    if (from !== target) unrecorded.push(from);
    for (const { id } of ancestorsOf(tree, from)) named.add(id);
  }
  const descend = (state: ChartState): void => {
    active.add(state.id);
    const inner = tree.childrenOf(state.id).filter(({ type }) => type !== 'history');
    const matching = inner.filter(({ id }) => named.has(id));
    const isParallel = state.type === 'parallel';
    const next = isParallel ? inner : matching.length > 0 ? matching : inner.filter(({ id }) => id === state.initial);
    if (next.length === 0) leaves.push(state.id);
    if (isParallel && matching.length > 0) for (const { id } of inner) if (!named.has(id)) unrecorded.push(id);
    for (const child of next) descend(child);
  };
  if (tree.root !== undefined) descend(tree.root);
  const possible = new Set([...active, ...unrecorded.flatMap((id) => descendantsOf(tree, id))]);
  return { leaves, active, possible: innermostFirst(tree, possible) };
}

const descendantsOf = (tree: StateTree, id: string): readonly string[] => [
  id,
  ...tree.childrenOf(id).flatMap((child) => descendantsOf(tree, child.id)),
];

function innermostFirst(tree: StateTree, ids: ReadonlySet<string>): readonly ChartState[] {
  const depth = (id: string): number => ancestorsOf(tree, id).length;
  return [...ids].sort((one, other) => depth(other) - depth(one)).flatMap((id) => tree.state(id) ?? []);
}

interface StateTree {
  readonly root: ChartState | undefined;
  state(id: string): ChartState | undefined;
  childrenOf(id: string): readonly ChartState[];
  /** Whether a state is `outer`, or inside it. */
  isInside(id: string, outer: string): boolean;
}

const NO_STATES: readonly ChartState[] = [];

function createStateTree(states: readonly ChartState[]): StateTree {
  const byId = new Map(states.map((state) => [state.id, state]));
  const children = groupBy(states, ({ parent }) => parent ?? '');
  const tree: StateTree = {
    root: children.get('')?.[0],
    state: (id) => byId.get(id),
    childrenOf: (id) => children.get(id) ?? NO_STATES,
    isInside: (id, outer) => ancestorsOf(tree, id).some((state) => state.id === outer),
  };
  return tree;
}

/** The state and its ancestors, innermost first, each once: in a damaged file, a state may be its own ancestor. */
export function ancestorsOf(tree: StateTree, id: string): readonly ChartState[] {
  const path = new Set<ChartState>();
  let state = tree.state(id);
  for (; state !== undefined && !path.has(state); state = tree.state(state.parent ?? '')) path.add(state);
  return [...path];
}

/** The path of a state without the root: `cycling › yield › deciding`. The id if the chart does not have the state. */
export function statePath(tree: StateTree | undefined, id: string): string {
  const path = tree === undefined ? [] : ancestorsOf(tree, id);
  if (path.length < 2) return path[0]?.name ?? id;
  return path
    .slice(0, -1)
    .map(({ name }) => name)
    .reverse()
    .join(' › ');
}

const places = new WeakMap<IndexedChart, ReadonlyMap<string, string>>();

/**
 * A state as texts name it: beside one with the same parent (`beside`) by its name; otherwise by as much of its path as no other state has,
 * with its regions: `group1 › step0`. The id if the chart does not have the state.
 */
export function placeIn(chart: IndexedChart | undefined, id: string, beside = ''): string {
  const state = chart?.state(id);
  if (chart === undefined || state === undefined) return id;
  if (state.parent === chart.state(beside)?.parent) return state.name;
  const known = places.get(chart) ?? new Map(placesIn(chart));
  places.set(chart, known);
  return known.get(id) ?? state.name;
}

function placesIn(chart: IndexedChart): readonly (readonly [string, string])[] {
  /** The ends of the path of a state, the shortest first. */
  const endsOf = (path: readonly ChartState[]): readonly string[] =>
    path.map((_, at) =>
      path
        .slice(0, at + 1)
        .map(({ name }) => name)
        .reverse()
        .join(' › '),
    );
  const all = chart.states.map(({ id }) =>
    ancestorsOf(chart, id).filter(({ parent }, at) => at === 0 || parent !== null),
  );
  const times = new Map<string, number>();
  for (const end of all.flatMap(endsOf)) times.set(end, (times.get(end) ?? 0) + 1);
  return all.map((path) => {
    const ends = endsOf(path);
    const region = path.findLastIndex(({ parent }) => chart.state(parent ?? '')?.type === 'parallel');
    const place = ends.find((end, at) => at >= region && times.get(end) === 1) ?? ends.at(-1) ?? '';
    return [path[0]?.id ?? '', place] as const;
  });
}

export const nameIn = (tree: StateTree | undefined, id: string): string => tree?.state(id)?.name ?? id;

/** The last part of a state id: `postChain.cycling.routing` becomes `routing`. */
export const lastName = (id: string): string => id.slice(id.lastIndexOf('.') + 1);
