import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import { ancestorsOf, type IndexedChart, indexChart, placeIn } from '../fold/chart-index.ts';
import { isOwnChart } from '../fold/chart-words.ts';
import { groupBy } from '../fold/group-by.ts';

/** States and lines that are drawn together: the inside of a state, with some of its compound states open. */
export interface Level {
  readonly root: ChartState;
  /** Parents come before their children; the root is not included. */
  readonly states: readonly ChartState[];
  /** Compound states whose children are drawn at this level. The others are folded. */
  readonly open: ReadonlySet<string>;
  readonly stubs: readonly Stub[];
  readonly edges: readonly LevelEdge[];
  /** Compound states that are laid out on their own, each with the level inside it. */
  readonly blocks: readonly Level[];
}

/** The end of a line outside the level, or at "any state" of `parent`. */
interface Stub {
  readonly id: string;
  readonly parent: string;
  readonly text: string;
}

/** All transitions with the same ends at a level. An end is the id of a state or a stub. */
export interface LevelEdge {
  readonly source: string;
  readonly target: string;
  readonly transitions: readonly number[];
  readonly hasLine: boolean;
  /** The same for the lines of one state whose guards differ only in a parameter, such as `nextPhaseIs(action)`; null for other lines. */
  readonly fan: string | null;
}

/** Up to this many states are laid out together. */
const MAX_TOGETHER = 16;
/** Charts of other programs with up to this many states show each state, in blocks that are laid out on their own. */
const MAX_IN_BLOCKS = 80;
/** With more compound states next to each other, the initial one is not opened alone: it is one of many. */
const MAX_MAIN = 3;
/** With more lines, a level is a list of boxes without lines. */
const MAX_LINES = 80;

/** Up to this many lines, all are drawn. */
const MAX_CALM = 24;
/** With more neighbors, and more than half of the states of a level, a state is a hub. */
const MIN_HUB = 6;

/** The levels of a chart: the whole chart, and the inside of each folded state. */
export function levelsOf(chart: Chart): readonly Level[] {
  const tree = indexChart(chart);
  const roots = chart.states.filter(({ id }) => id === chart.id);
  if (!isOwnChart(chart.id) && chart.states.length <= MAX_IN_BLOCKS)
    return roots.map((root) => inBlocks(chart, root, tree));
  const levels: Level[] = [];
  for (const root of roots) {
    const level = levelOf(chart, root, tree, openStates(root, tree));
    levels.push(level);
    roots.push(...foldedIn(level, tree));
  }
  return levels;
}

const foldedIn = ({ states, open }: Level, tree: IndexedChart): readonly ChartState[] =>
  states.filter(({ id }) => !open.has(id) && tree.childrenOf(id).length > 0);

/** Returns a level without folded states. Each region is a block, and so is each compound state if the states do not all fit together. */
function inBlocks(chart: Chart, root: ChartState, tree: IndexedChart): Level {
  const children = tree.childrenOf(root.id);
  const whole = levelOf(chart, root, tree, openStates(root, tree));
  const isWhole = foldedIn(whole, tree).length === 0 && root.type !== 'parallel';
  const simple = children.filter(({ id }) => tree.childrenOf(id).length === 0);
  const blocks = isWhole
    ? []
    : children.flatMap((state) => (simple.includes(state) ? [] : inBlocks(chart, state, tree)));
  const level = isWhole ? whole : levelOf(chart, root, tree, new Set(), simple);
  const shown = new Set([level, ...blocks].flatMap(transitionsIn));
  const missing = chart.transitions.flatMap(({ source, target: [target] }, at) =>
    source === root.id && target !== undefined && !shown.has(at)
      ? [{ source, target, transitions: [at], hasLine: false, fan: null }]
      : [],
  );
  return { ...level, edges: [...level.edges, ...missing], blocks };
}

/** The transitions with a line, or named in the box that they leave. */
const transitionsIn = ({ states, edges, blocks }: Level): readonly number[] => [
  ...edges.flatMap(({ hasLine, source, transitions }) =>
    hasLine || states.some(({ id }) => id === source) ? transitions : [],
  ),
  ...blocks.flatMap(transitionsIn),
];

/**
 * The states to open: level by level all compound states, if there is room for their children; otherwise only the initial one. Regions of a
 * parallel state are always drawn together.
 */
function openStates(root: ChartState, tree: IndexedChart): ReadonlySet<string> {
  const open = new Set<string>();
  let count = tree.childrenOf(root.id).length;
  let layer: readonly ChartState[] = [root];
  while (layer.length > 0) {
    const parents = layer;
    const compounds = parents
      .flatMap(({ id }) => tree.childrenOf(id))
      .filter(({ id }) => tree.childrenOf(id).length > 0);
    const added = (states: readonly ChartState[]): number =>
      states.reduce((sum, { id }) => sum + tree.childrenOf(id).length, 0);
    const initial = compounds.filter(({ id }) => parents.some((parent) => parent.initial === id));
    const isMain = compounds.length <= MAX_MAIN;
    const choices = isMain ? [compounds, initial] : [compounds];
    layer = choices.find((some) => some.length > 0 && count + added(some) <= MAX_TOGETHER) ?? [];
    count += added(layer);
    for (const { id } of layer) open.add(id);
  }
  return open;
}

function levelOf(
  chart: Chart,
  root: ChartState,
  tree: IndexedChart,
  open: ReadonlySet<string>,
  children = tree.childrenOf(root.id),
): Level {
  const inside = (all: readonly ChartState[]): readonly ChartState[] =>
    all.flatMap((state) => [state, ...(open.has(state.id) ? inside(tree.childrenOf(state.id)) : [])]);
  const states = inside(children);
  const stubs = new Map<string, Stub>();
  const edges = edgesOf(chart, root, new Set(states.map(({ id }) => id)), open, tree, stubs);
  const isCrowded = edges.filter(({ hasLine }) => hasLine).length > MAX_LINES;
  const shown = isCrowded ? edges.map((edge) => ({ ...edge, hasLine: false })) : edges;
  const ends = new Set(shown.flatMap(({ hasLine, source, target }) => (hasLine ? [source, target] : [])));
  return {
    root,
    states,
    open,
    stubs: [...stubs.values()].filter(({ id }) => ends.has(id)),
    edges: shown,
    blocks: [],
  };
}

function edgesOf(
  chart: Chart,
  root: ChartState,
  visible: ReadonlySet<string>,
  open: ReadonlySet<string>,
  tree: IndexedChart,
  stubs: Map<string, Stub>,
): readonly LevelEdge[] {
  /** The state and its ancestors below the root; null outside the level. */
  const pathOf = (id: string): readonly string[] | null => {
    const path = ancestorsOf(tree, id).map((state) => state.id);
    return path.includes(root.id) ? path.slice(0, path.indexOf(root.id)) : null;
  };
  const stub = (kind: string, parent: string, text: string): string => {
    const id = JSON.stringify([kind, parent, text]);
    stubs.set(id, { id, parent, text });
    return id;
  };
  const nameOf = (id: string): string => placeIn(tree, id);
  const around = ancestorsOf(tree, root.id).map((state) => state.id);
  const simple = chart.states.filter(({ id }) => tree.childrenOf(id).length === 0);
  /** The stub for lines from any state inside `id`. If that is the whole chart, the lines come from outside the level. */
  const anyState = (id: string): string =>
    id === chart.id && id !== root.id && !isOwnChart(id)
      ? stub('from', root.id, `any of ${simple.length} states`)
      : stub('any', root.id, id === root.id || id === chart.id ? 'any state' : `any state of ${nameOf(id)}`);
  /** The ends of a transition into or out of the state around the level; null for other transitions and in the chain's charts. */
  const endsAround = (source: string, target: string): readonly [string, string] | null => {
    if (root.parent === null || isOwnChart(chart.id)) return null;
    const entered = root.initial !== null && visible.has(root.initial) ? root.initial : null;
    const from = around.includes(source) ? anyState(source) : stub('from', root.id, nameOf(source));
    if (target === root.id) return entered === null ? null : [from, entered];
    // A transition out of several states is drawn where it enters one.
    return source === root.id && pathOf(target) === null ? [from, stub('to', root.id, nameOf(target))] : null;
  };
  /** The ends of a transition at this level; null if it is drawn at another level. */
  const endsOf = (source: string, target: string): readonly [string, string] | null => {
    const [from, to] = [pathOf(source), pathOf(target)];
    const [a, b] = [from, to].map((path) => path?.find((id) => visible.has(id)) ?? null) as [
      string | null,
      string | null,
    ];
    if (a !== null && b !== null) {
      if (open.has(a) && to?.includes(a))
        return a === b ? [stub('any', a, 'any state'), stub('to', a, nameOf(a))] : [stub('any', a, 'any state'), b];
      if (open.has(b) && from?.includes(b)) return [a, stub('to', b, nameOf(b))];
      return a === b && target !== a ? null : [a, b];
    }
    if (a !== null) return [a, stub('to', root.id, nameOf(target))];
    if (b === null) {
      const isRootItself = root.parent === null && source === root.id && target === root.id;
      return isRootItself ? [anyState(source), stub('to', source, nameOf(source))] : endsAround(source, target);
    }
    return [around.includes(source) ? anyState(source) : stub('from', root.id, nameOf(source)), b];
  };
  const edges = new Map<string, LevelEdge>();
  for (const [index, { source, target }] of chart.transitions.entries()) {
    const hasLine = target.length > 0;
    for (const to of hasLine ? target : [source]) {
      const isHere = visible.has(source) || source === root.id;
      const ends = hasLine ? endsOf(source, to) : isHere ? ([source, source] as const) : null;
      if (ends === null) continue;
      const key = JSON.stringify([hasLine, ...ends]);
      const transitions = [...(edges.get(key)?.transitions ?? []), index];
      edges.set(key, { source: ends[0], target: ends[1], transitions, hasLine, fan: null });
    }
  }
  return withFans(withoutHubs([...edges.values()], chart, visible.size - open.size, stubs), chart, stubs);
}

const MIN_FAN = 3;

/** Marks the lines of fans. The lines of a fan that leave the level become one. */
function withFans(edges: readonly LevelEdge[], chart: Chart, stubs: Map<string, Stub>): readonly LevelEdge[] {
  const fans = groupBy(edges, (edge) => fanOf(edge, chart));
  return edges.flatMap((edge) => {
    const fan = fanOf(edge, chart);
    const all = fans.get(fan) ?? [];
    if (fan === null || all.length < MIN_FAN) return edge;
    const leaving = all.filter(({ target }) => stubs.has(target));
    const stub = stubs.get(edge.target);
    if (leaving.length >= MIN_FAN && stub !== undefined) {
      if (edge !== leaving[0]) return [];
      const target = JSON.stringify(['fan', fan]);
      stubs.set(target, { ...stub, id: target, text: `one of ${leaving.length} states` });
      return { ...edge, target, transitions: leaving.flatMap((one) => one.transitions) };
    }
    // The transition back to the state itself is shown inside it.
    return edge.source === edge.target ? { ...edge, hasLine: false } : { ...edge, fan };
  });
}

/** The rule of a line whose guard has a parameter, with its source and event. */
function fanOf({ hasLine, source, transitions: [first = -1] }: LevelEdge, { transitions }: Chart): string | null {
  const { event, guard } = transitions[first] ?? {};
  const [, rule] = /^(.+)\(.*\)$/su.exec(guard ?? '') ?? [];
  return hasLine && rule !== undefined ? JSON.stringify([source, event, rule]) : null;
}

/**
 * Leaves out lines to and from states that are connected to nearly every other state of a crowded level, because they would hide the
 * others: the boxes name them instead. A state keeps a line out, a target of a hub keeps a line in, and default transitions stay.
 */
function withoutHubs(
  edges: readonly LevelEdge[],
  chart: Chart,
  boxes: number,
  stubs: ReadonlyMap<string, Stub>,
): readonly LevelEdge[] {
  const lines = edges.filter(({ hasLine, source, target }) => hasLine && source !== target);
  if (lines.length <= MAX_CALM) return edges;
  const neighbors = new Map<string, Set<string>>();
  const connect = (state: string, other: string): void => {
    neighbors.set(state, (neighbors.get(state) ?? new Set()).add(other));
  };
  for (const line of lines) {
    connect(line.source, fanOf(line, chart) ?? line.target);
    connect(line.target, line.source);
  }
  const isHub = (id: string): boolean => (neighbors.get(id)?.size ?? 0) >= Math.max(MIN_HUB, boxes / 2 + 1);
  const isDefault = ({ transitions }: LevelEdge): boolean =>
    transitions.some((index) => chart.transitions[index]?.event === '' && chart.transitions[index]?.otherwise);
  const isOmitted = (line: LevelEdge): boolean => {
    const { source, target } = line;
    if (source === target || isDefault(line)) return false;
    if (isHub(target))
      return stubs.has(source) || lines.some((other) => other.source === source && !isHub(other.target));
    return isHub(source) && lines.some((other) => other.target === target && !isHub(other.source));
  };
  return edges.map((edge) => (edge.hasLine && isOmitted(edge) ? { ...edge, hasLine: false } : edge));
}
