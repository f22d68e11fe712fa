import type { ELK } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from '../../src/engine/charts/chart.ts';
import type { Edge } from '../../src/engine/charts/edges.ts';
import type { Box, Drawing, DrawnEdge, DrawnState } from './drawing.ts';
import {
  type Direction,
  elkGraph,
  type LayoutOptions,
  type Line,
  type Point,
  readLayout,
  type StateLayout,
} from './elk-layout.ts';
import { normalizeChart, type Plan, planOf } from './layout-plan.ts';
import { fitScore, layOutInRows, rowLayoutOf } from './row-layout.ts';
import { type Head, noteOf } from './state-box.ts';

/** The default width to height of a chart. */
const DEFAULT_ASPECT = 1.6;
/** The proportions tried for the states of a chart; the best is kept. */
const ASPECTS = [0.7, 1, 1.3, 1.6, 2, 2.6, 3.5] as const;

interface LayoutInputs {
  readonly elk: Pick<ELK, 'layout'>;
  /** The drawings of inner charts, by actor name. */
  readonly insets: ReadonlyMap<string, Drawing>;
  /** The preferred width to height. */
  readonly aspect?: number;
}

/** Lays out each state separately, innermost first, and keeps the arrangement that fits its parent best. */
export async function layoutChart(
  given: Chart,
  { elk, insets, aspect = DEFAULT_ASPECT }: LayoutInputs,
): Promise<Drawing> {
  const chart = normalizeChart(given);
  const plan = planOf(chart, insets);
  const isFlat = chart.states.every(({ parent }) => parent === null || parent === chart.id);
  const aspects = isFlat || plan.isLarge ? [aspect] : ASPECTS;
  let best: StateLayout | null = null;
  for (const inner of aspects) {
    const layout = await createStateLayouter(plan, elk, inner, aspect)(plan.root, 'RIGHT');
    if (best === null || fullScore(layout, aspect) < fullScore(best, aspect)) best = layout;
  }
  return drawingOf(chart, plan.drawn, best as StateLayout);
}

/** Includes the cost of all lines, also inside the states. */
function fullScore(layout: StateLayout, aspect: number): number {
  return fitScore(layout, aspect) + linesCost(layout);
}

function linesCost({ parts, ...layout }: StateLayout & { readonly cost?: number }): number {
  return parts.reduce((sum, part) => sum + linesCost(part.layout), layout.cost ?? 0);
}

/** Converts a layout to chart coordinates, rounds it, and joins the pieces of each edge. */
function drawingOf(chart: Chart, edges: readonly Edge[], root: StateLayout): Drawing {
  const states: DrawnState[] = [];
  const lines = new Map<number, Line[]>();
  const initials = new Set(chart.states.flatMap(({ initial }) => (initial === null ? [] : [initial])));
  const visit = (layout: StateLayout, at: Point): void => {
    if (layout !== root) states.push(stateOf(layout, at, initials));
    for (const [edge, line] of layout.lines) lines.set(edge, [...(lines.get(edge) ?? []), moved(line, at)]);
    for (const part of layout.parts) visit(part.layout, { x: at.x + part.at.x, y: at.y + part.at.y });
  };
  visit(root, { x: 0, y: 0 });
  return {
    chartId: chart.id,
    width: Math.ceil(root.width),
    height: Math.ceil(root.height),
    chips: root.head.chips,
    states,
    edges: edges.map((edge, index) => edgeOf(edge, lines.get(index) ?? [])),
  };
}

function stateOf(
  { state, width, height, head, inset }: StateLayout,
  at: Point,
  initials: ReadonlySet<string>,
): DrawnState {
  return {
    id: state.id,
    name: state.name,
    parent: state.parent,
    type: state.type,
    description: state.description,
    note: inset === null ? noteOf(state) : '',
    isInitial: initials.has(state.id),
    ...rounded({ ...at, width, height }),
    chips: head.chips.map((chip) => ({ ...chip, ...rounded({ ...chip, x: at.x + chip.x, y: at.y + chip.y }) })),
    inset: inset === null ? null : { ...inset, x: tenth(at.x + inset.x), y: tenth(at.y + inset.y) },
  };
}

function edgeOf({ source, target, labels, dashed, transitions }: Edge, lines: readonly Line[]): DrawnEdge {
  const label = lines.find((line) => line.label !== null)?.label ?? null;
  return {
    source,
    target,
    labels,
    dashed,
    points: joined([...lines].sort((one, other) => one.step - other.step).map(({ points }) => points)),
    label: label === null ? null : rounded(label),
    transitions,
  };
}

/** Joins the pieces of a line and removes redundant points. */
function joined(pieces: readonly (readonly Point[])[]): readonly Point[] {
  const points = pieces.flat().map(({ x, y }) => ({ x: tenth(x), y: tenth(y) }));
  const kept: Point[] = [];
  for (const [index, point] of points.entries()) {
    const before = kept.at(-1);
    const after = points[index + 1];
    if (before !== undefined && isNear(before, point)) continue;
    if (before !== undefined && after !== undefined && isStraight(before, point, after)) continue;
    kept.push(point);
  }
  return kept;
}

const isNear = (one: Point, other: Point): boolean => Math.abs(one.x - other.x) + Math.abs(one.y - other.y) < 0.3;

function isStraight(before: Point, { x, y }: Point, after: Point): boolean {
  const level = Math.abs(before.y - y) < 0.3 && Math.abs(after.y - y) < 0.3 && (x - before.x) * (after.x - x) >= 0;
  const upright = Math.abs(before.x - x) < 0.3 && Math.abs(after.x - x) < 0.3 && (y - before.y) * (after.y - y) >= 0;
  return level || upright;
}

function moved({ step, points, label }: Line, { x, y }: Point): Line {
  return {
    step,
    points: points.map((point) => ({ x: point.x + x, y: point.y + y })),
    label: label === null ? null : { ...label, x: label.x + x, y: label.y + y },
  };
}

const tenth = (length: number): number => Math.round(length * 10) / 10;
function rounded({ x, y, width, height }: Box): Box {
  return { x: tenth(x), y: tenth(y), width: tenth(width), height: tenth(height) };
}

const INSET = { scale: 0.4, gap: 6 } as const;
/** With more lines per box, rows become unreadable. */
const MAX_LINES_PER_BOX = 1.7;
/** How many of the most compact arrangements are tried. */
const MAX_ROW_LAYOUTS = 12;

type LayState = (state: ChartState, exits: Direction) => Promise<StateLayout>;

/** Lays out the states of a plan, each once per exit side. `rootAspect` applies to the root, `aspect` to all others. */
function createStateLayouter(plan: Plan, elk: Pick<ELK, 'layout'>, aspect: number, rootAspect: number): LayState {
  const done = new Map<string, Promise<StateLayout>>();
  const lay: LayState = (state, exits) => {
    const key = `${exits} ${state.id}`;
    const known = done.get(key) ?? (plan.childrenOf(state.id).length === 0 ? layLeaf(state) : layInner(state, exits));
    done.set(key, known);
    return known;
  };
  const layLeaf = async (state: ChartState): Promise<StateLayout> => leafOf(state, plan);
  const layInner = async (state: ChartState, exits: Direction): Promise<StateLayout> => {
    const wished = state === plan.root ? rootAspect : aspect;
    let best = await layInRows(state, exits, wished);
    if (best !== null) return best;
    for (const direction of plan.isLarge ? [exits] : (['RIGHT', 'DOWN'] as const)) {
      const layout = await layIn(state, { direction, exits, aspect: wished });
      if (best === null || fitScore(layout, wished) < fitScore(best, wished)) best = layout;
    }
    return best as StateLayout;
  };
  /** Arranges few large boxes in rows and routes the lines one by one; null if that is not possible. */
  const layInRows = async (state: ChartState, exits: Direction, wished: number): Promise<StateLayout | null> => {
    const children = plan.childrenOf(state.id);
    const pieces = plan.pieces.get(state.id) ?? [];
    if (plan.isLarge || pieces.length > children.length * MAX_LINES_PER_BOX) return null;
    const parts: StateLayout[] = [];
    for (const child of children) parts.push(await lay(child, 'RIGHT'));
    let best: StateLayout | null = null;
    let min = Number.POSITIVE_INFINITY;
    for (const rows of rowLayoutOf(parts, wished).slice(0, MAX_ROW_LAYOUTS)) {
      if (fitScore(rows, wished) >= min) break;
      const head = plan.headOf(state, state === plan.root ? 0 : rows.width + 32);
      const layout = layOutInRows(state, head, parts, pieces, rows, exits);
      if (layout === null) continue;
      const score = fitScore(layout, wished) + layout.cost;
      if (score < min) {
        min = score;
        best = layout;
      }
    }
    return best;
  };
  const layIn = async (state: ChartState, options: LayoutOptions): Promise<StateLayout> => {
    const parts: StateLayout[] = [];
    for (const child of plan.childrenOf(state.id)) parts.push(await lay(child, options.direction));
    const pieces = plan.pieces.get(state.id) ?? [];
    const isRoot = state === plan.root;
    const attempt = async (head: Head): Promise<StateLayout> =>
      readLayout(state, head, parts, pieces, await elk.layout(elkGraph(state.id, parts, pieces, head, options)));
    const first = plan.headOf(state, isRoot ? 0 : widthOfParts(parts));
    const layout = await attempt(first);
    // A head of this width may need a different number of rows.
    const head = plan.headOf(state, layout.width);
    return head.height === first.height && head.width <= layout.width
      ? { ...layout, head }
      : { ...(await attempt(head)), head };
  };
  return lay;
}

const widthOfParts = (parts: readonly StateLayout[]): number => Math.max(...parts.map(({ width }) => width)) + 32;

function leafOf(state: ChartState, plan: Plan): StateLayout {
  const inset = plan.insetOf(state);
  const none = { state, parts: [], lines: new Map(), crossings: [], isFixed: false } as const;
  if (inset === null) {
    const head = plan.headOf(state, 0);
    return { ...none, id: state.id, width: head.width, height: head.height, head, inset: null };
  }
  const size = { width: inset.width * INSET.scale, height: inset.height * INSET.scale };
  const head = plan.headOf(state, size.width + 2 * INSET.gap);
  const x = (head.width - size.width) / 2;
  return {
    ...none,
    id: state.id,
    width: head.width,
    height: head.height + size.height + INSET.gap,
    head,
    inset: { chartId: inset.chartId, scale: INSET.scale, x, y: head.height },
  };
}
