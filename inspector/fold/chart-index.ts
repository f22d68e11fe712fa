import type { Chart, ChartState } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';

/** The charts of a run by id. */
export interface ChartBook {
  chart(machine: string): OpenChart | undefined;
  /** The run's own chart; undefined if there is none. */
  readonly first: OpenChart | undefined;
  readonly all: readonly OpenChart[];
}

const EMPTY: ChartBook = { chart: () => undefined, first: undefined, all: [] };
const books = new WeakMap<RunCharts, ChartBook>();

/** The charts of a run, made ready once. */
export function chartBook(charts: RunCharts | null): ChartBook {
  if (charts === null) return EMPTY;
  const there = books.get(charts);
  if (there !== undefined) return there;
  const all = charts.charts.map(openChart);
  const byId = new Map(all.map((chart) => [chart.id, chart]));
  const book: ChartBook = { chart: (machine) => byId.get(machine), first: all[0], all };
  books.set(charts, book);
  return book;
}

/** A transition of a chart, and its place in `Chart.transitions`. */
type ChartTransition = Chart['transitions'][number] & { readonly place: number };

/** A chart with lookups by state id. */
export interface OpenChart extends StateTree {
  readonly id: string;
  readonly states: readonly ChartState[];
  /** The states that invoke something. */
  readonly asking: readonly ChartState[];
  /** What leads out of a state, in the order in which it is tried for one event. */
  transitionsFrom(id: string): readonly ChartTransition[];
  /**
   * The configuration after entering these states. With none, and for regions without one, the initial configuration.
   */
  entered(targets: readonly string[]): Stand;
}

const NO_TRANSITIONS: readonly ChartTransition[] = [];
const openedCharts = new WeakMap<Chart, OpenChart>();

/** A chart, made ready once. */
function openChart(chart: Chart): OpenChart {
  const there = openedCharts.get(chart) ?? makeReady(chart);
  openedCharts.set(chart, there);
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
    transitionsFrom: (state) => bySource.get(state) ?? NO_TRANSITIONS,
    entered: createStands(tree),
  };
}

/** A place in a chart. */
export interface Stand {
  /** The innermost states. */
  readonly leaves: readonly string[];
  /** They, and all states around them. */
  readonly active: ReadonlySet<string>;
  /**
   * The active states, plus every state that may be active but is not recorded (other regions, targets of a history).
   * Inner states come first.
   */
  readonly possible: readonly ChartState[];
}

/** Computes configurations from entered states; caches each. */
function createStands(tree: StateTree): (targets: readonly string[]) => Stand {
  const known = new Map<string, Stand>();
  return (targets) => {
    const key = targets.length === 1 ? (targets[0] ?? '') : targets.join('\n');
    const there = known.get(key) ?? standOf(tree, targets);
    known.set(key, there);
    return there;
  };
}

function standOf(tree: StateTree, targets: readonly string[]): Stand {
  const named = new Set<string>();
  const leaves: string[] = [];
  const active = new Set<string>();
  const untold: string[] = [];
  for (const target of targets) {
    // The journal does not record where a history leads; assume the initial state of its parent.
    const state = tree.state(target);
    const from = state?.type === 'history' ? (state.parent ?? target) : target;
    if (from !== target) untold.push(from);
    for (const { id } of outwards(tree, from)) named.add(id);
  }
  const descend = (state: ChartState): void => {
    active.add(state.id);
    const inner = tree.childrenOf(state.id).filter(({ type }) => type !== 'history');
    const wanted = inner.filter(({ id }) => named.has(id));
    const isParallel = state.type === 'parallel';
    const next = isParallel ? inner : wanted.length > 0 ? wanted : inner.filter(({ id }) => id === state.initial);
    if (next.length === 0) leaves.push(state.id);
    if (isParallel && wanted.length > 0) for (const { id } of inner) if (!named.has(id)) untold.push(id);
    for (const child of next) descend(child);
  };
  if (tree.root !== undefined) descend(tree.root);
  const possible = new Set([...active, ...untold.flatMap((id) => within(tree, id))]);
  return { leaves, active, possible: inwardFirst(tree, possible) };
}

const within = (tree: StateTree, id: string): readonly string[] => [
  id,
  ...tree.childrenOf(id).flatMap((child) => within(tree, child.id)),
];

function inwardFirst(tree: StateTree, ids: ReadonlySet<string>): readonly ChartState[] {
  const depth = (id: string): number => outwards(tree, id).length;
  return [...ids].sort((one, other) => depth(other) - depth(one)).flatMap((id) => tree.state(id) ?? []);
}

/** The states of a chart by id. */
interface StateTree {
  readonly root: ChartState | undefined;
  state(id: string): ChartState | undefined;
  childrenOf(id: string): readonly ChartState[];
}

const NO_STATES: readonly ChartState[] = [];

function createStateTree(states: readonly ChartState[]): StateTree {
  const byId = new Map(states.map((state) => [state.id, state]));
  const children = groupedBy(states, ({ parent }) => parent ?? '');
  return {
    root: children.get('')?.[0],
    state: (id) => byId.get(id),
    childrenOf: (id) => children.get(id) ?? NO_STATES,
  };
}

/** A state and those around it, from the inside out. */
export function outwards(tree: StateTree, id: string): readonly ChartState[] {
  const path: ChartState[] = [];
  for (let state = tree.state(id); state !== undefined; state = tree.state(state.parent ?? '')) path.push(state);
  return path;
}

/** The path of a state without the root: `cycling › yield › deciding`. The id if the chart does not have the state. */
export function pathInWords(tree: StateTree | undefined, id: string): string {
  const path = tree === undefined ? [] : outwards(tree, id);
  if (path.length < 2) return path[0]?.name ?? id;
  return path
    .slice(0, -1)
    .map(({ name }) => name)
    .reverse()
    .join(' › ');
}

export const nameIn = (tree: StateTree | undefined, id: string): string => tree?.state(id)?.name ?? id;

/** `postChain.cycling.routing` is called `routing`. */
export const lastName = (id: string): string => id.slice(id.lastIndexOf('.') + 1);

/** Whether these are the same states, in the same order. */
export function sameIds(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id, at) => id === right[at]);
}

/** Items by what they have in common, in their order. */
function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
