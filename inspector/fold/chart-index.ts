import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import { type TakenTransition, transitionFinder } from '../../src/durable/charts/taken-transitions.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { groupBy } from './group-by.ts';

interface ChartIndex {
  chart(machine: string): IndexedChart | undefined;
  /** The run's own chart; undefined if there is none. */
  readonly first: IndexedChart | undefined;
  readonly all: readonly IndexedChart[];
  /** By the actor name that states invoke. */
  readonly invoked: ReadonlyMap<string, IndexedChart>;
}

const EMPTY: ChartIndex = { chart: () => undefined, first: undefined, all: [], invoked: new Map() };
const indexes = new WeakMap<RunCharts, ChartIndex>();

export function chartIndexOf(charts: RunCharts | null): ChartIndex {
  if (charts === null) return EMPTY;
  const cached = indexes.get(charts);
  if (cached !== undefined) return cached;
  const all = charts.charts.map(indexChart);
  const byId = new Map(all.map((chart) => [chart.id, chart]));
  const invoked = Object.entries(charts.invoked ?? {}).flatMap(([name, id]) => {
    const chart = byId.get(id);
    return chart === undefined ? [] : [[name, chart] as const];
  });
  const index = { chart: (id: string) => byId.get(id), first: all[0], all, invoked: new Map(invoked) };
  indexes.set(charts, index);
  return index;
}

type ChartTransition = Chart['transitions'][number] & { readonly index: number };

const NONE: readonly never[] = [];
const indexedCharts = new WeakMap<Chart, IndexedChart>();

export function indexChart(chart: Chart): IndexedChart {
  const cached = indexedCharts.get(chart) ?? new IndexedChart(chart);
  indexedCharts.set(chart, cached);
  return cached;
}

export class IndexedChart {
  readonly id: string;
  readonly states: readonly ChartState[];
  readonly transitions: Chart['transitions'];
  readonly root: ChartState | undefined;
  readonly invoking: readonly ChartState[];
  /** The index of a taken transition in `Chart.transitions`; null if the chart has no such transition. */
  readonly indexOf: (taken: TakenTransition) => number | null;
  readonly #byId: ReadonlyMap<string, ChartState>;
  readonly #children: ReadonlyMap<string, readonly ChartState[]>;
  readonly #bySource: ReadonlyMap<string, readonly ChartTransition[]>;
  readonly #configurations = new Map<string, RecordedStates>();

  constructor(chart: Chart) {
    const { id, states, transitions } = chart;
    [this.id, this.states, this.transitions] = [id, states, transitions];
    this.invoking = states.filter(({ invokes }) => invokes.length > 0);
    this.indexOf = transitionFinder(chart);
    this.#byId = new Map(states.map((state) => [state.id, state]));
    this.#children = groupBy(states, ({ parent }) => parent ?? '');
    this.root = this.#children.get('')?.[0];
    const indexed = transitions.map((transition, index) => ({ ...transition, index }));
    this.#bySource = groupBy(indexed, ({ source }) => source);
  }

  readonly state = (id: string): ChartState | undefined => this.#byId.get(id);
  readonly childrenOf = (id: string): readonly ChartState[] => this.#children.get(id) ?? NONE;
  /** Whether a state is `outer`, or inside it. */
  readonly isInside = (id: string, outer: string): boolean => ancestorsOf(this, id).some((one) => one.id === outer);
  /** The transitions of a state, in the order in which they are tried for one event. */
  readonly transitionsFrom = (id: string): readonly ChartTransition[] => this.#bySource.get(id) ?? NONE;

  /** The configuration after entering these states: the initial one in regions that contain none of them. */
  readonly entered = (targets: readonly string[]): RecordedStates => {
    const key = targets.join('\n');
    const known = this.#configurations.get(key) ?? configurationOf(this, targets);
    this.#configurations.set(key, known);
    return known;
  };
}

export interface RecordedStates {
  readonly leaves: readonly string[];
  /** The leaves and all their ancestors. */
  readonly active: ReadonlySet<string>;
  /**
   * The active states, plus every state that may be active but is not recorded (other regions, targets of a history).
   * Inner states come first.
   */
  readonly possible: readonly ChartState[];
}

function configurationOf(tree: IndexedChart, targets: readonly string[]): RecordedStates {
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

/** A state and all states inside it. */
export const descendantsOf = (tree: IndexedChart, id: string): readonly string[] => [
  id,
  ...tree.childrenOf(id).flatMap((child) => descendantsOf(tree, child.id)),
];

function innermostFirst(tree: IndexedChart, ids: ReadonlySet<string>): readonly ChartState[] {
  const depth = (id: string): number => ancestorsOf(tree, id).length;
  return [...ids].sort((one, other) => depth(other) - depth(one)).flatMap((id) => tree.state(id) ?? []);
}

/** The state and its ancestors, innermost first, each once: in a damaged file, a state may be its own ancestor. */
export function ancestorsOf(tree: IndexedChart, id: string): readonly ChartState[] {
  const path = new Set<ChartState>();
  let state = tree.state(id);
  for (; state !== undefined && !path.has(state); state = tree.state(state.parent ?? '')) path.add(state);
  return [...path];
}

/** The path of a state without the root: `cycling › yield › deciding`. The id if the chart does not have the state. */
export function statePath(tree: IndexedChart | undefined, id: string): string {
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

export const nameIn = (tree: IndexedChart | undefined, id: string): string => tree?.state(id)?.name ?? id;

/** The last part of a state id: `postChain.cycling.routing` becomes `routing`. */
export const lastName = (id: string): string => id.slice(id.lastIndexOf('.') + 1);
