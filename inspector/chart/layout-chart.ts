import type { ELK } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from '../../src/engine/charts/chart.ts';
import type { Edge } from '../../src/engine/charts/edges.ts';
import type { Box, Drawing, DrawnEdge, DrawnState } from './drawing.ts';
import {
  type Direction,
  elkGraph,
  type LaidState,
  type Line,
  type Manner,
  type Point,
  readLaid,
} from './elk-layout.ts';
import { normalizeChart, type Plan, planOf } from './layout-plan.ts';
import { fitScore, layOutInRows, rowLayoutOf } from './row-layout.ts';
import { type Head, noteOf } from './state-box.ts';

/** What a chart is drawn into: width to height. */
const PLACE = 1.6;
/** Which proportions its states are to have is found out by trying. */
const ASPECTS = [0.7, 1, 1.3, 1.6, 2, 2.6, 3.5] as const;

export interface Surroundings {
  readonly elk: Pick<ELK, 'layout'>;
  /** What is drawn already, by the names of the actors that are such charts. */
  readonly insets: ReadonlyMap<string, Drawing>;
  /** Width to height, wished for. */
  readonly aspect?: number;
}

/** Lays a chart out: each state by itself, the innermost first, in the manner that fits its place best. */
export async function layoutChart(given: Chart, { elk, insets, aspect = PLACE }: Surroundings): Promise<Drawing> {
  const chart = normalizeChart(given);
  const plan = planOf(chart, insets);
  const isFlat = chart.states.every(({ parent }) => parent === null || parent === chart.id);
  const aspects = isFlat || plan.isLarge ? [aspect] : ASPECTS;
  let best: LaidState | null = null;
  for (const inner of aspects) {
    const laid = await createStateLayouter(plan, elk, inner, aspect)(plan.root, 'RIGHT');
    if (best === null || fullScore(laid, aspect) < fullScore(best, aspect)) best = laid;
  }
  return drawingOf(chart, plan.drawn, best as LaidState);
}

/** With what the lines in it cost, those in its states too. */
function fullScore(laid: LaidState, aspect: number): number {
  return fitScore(laid, aspect) + linesCost(laid);
}

function linesCost({ parts, ...laid }: LaidState & { readonly cost?: number }): number {
  return parts.reduce((sum, part) => sum + linesCost(part.laid), laid.cost ?? 0);
}

/** The layout of a chart in the coordinates of the chart, rounded: the pieces of each edge are one line again. */
function drawingOf(chart: Chart, edges: readonly Edge[], root: LaidState): Drawing {
  const states: DrawnState[] = [];
  const lines = new Map<number, Line[]>();
  const initials = new Set(chart.states.flatMap(({ initial }) => (initial === null ? [] : [initial])));
  const visit = (laid: LaidState, at: Point): void => {
    if (laid !== root) states.push(stateOf(laid, at, initials));
    for (const [edge, line] of laid.lines) lines.set(edge, [...(lines.get(edge) ?? []), moved(line, at)]);
    for (const part of laid.parts) visit(part.laid, { x: at.x + part.at.x, y: at.y + part.at.y });
  };
  visit(root, { x: 0, y: 0 });
  return {
    chartId: chart.id,
    width: Math.ceil(root.width),
    height: Math.ceil(root.height),
    chips: root.head.chips,
    states,
    edges: edges.map((edge, place) => edgeOf(edge, lines.get(place) ?? [])),
  };
}

function stateOf(
  { state, width, height, head, inset }: LaidState,
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

/** The pieces in the order in which they meet, without points that change nothing. */
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
/** Lines a box, at most, on rows. */
const MOST_LINES = 1.7;
/** So many of the most compact arrangements are tried. */
const MAX_ROW_LAYOUTS = 12;

type LayState = (state: ChartState, exits: Direction) => Promise<LaidState>;

/** How the states of a plan are laid out, each once: the insides of all but the chart in one aspect, the chart's own in another. */
function createStateLayouter(plan: Plan, elk: Pick<ELK, 'layout'>, aspect: number, rootAspect: number): LayState {
  const done = new Map<string, Promise<LaidState>>();
  const lay: LayState = (state, exits) => {
    const key = `${exits} ${state.id}`;
    const known = done.get(key) ?? (plan.childrenOf(state.id).length === 0 ? layLeaf(state) : layInner(state, exits));
    done.set(key, known);
    return known;
  };
  const layLeaf = async (state: ChartState): Promise<LaidState> => leafOf(state, plan);
  const layInner = async (state: ChartState, exits: Direction): Promise<LaidState> => {
    const wished = state === plan.root ? rootAspect : aspect;
    let best = await layInRows(state, exits, wished);
    if (best !== null) return best;
    for (const direction of plan.isLarge ? [exits] : (['RIGHT', 'DOWN'] as const)) {
      const laid = await layIn(state, { direction, exits, aspect: wished });
      if (best === null || fitScore(laid, wished) < fitScore(best, wished)) best = laid;
    }
    return best as LaidState;
  };
  /** Boxes in rows, for a state of several that are few and large: its lines are found one by one. */
  const layInRows = async (state: ChartState, exits: Direction, wished: number): Promise<LaidState | null> => {
    const children = plan.childrenOf(state.id);
    const pieces = plan.pieces.get(state.id) ?? [];
    if (plan.isLarge || pieces.length > children.length * MOST_LINES) return null;
    const parts: LaidState[] = [];
    for (const child of children) parts.push(await lay(child, 'RIGHT'));
    let best: LaidState | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const rows of rowLayoutOf(parts, wished).slice(0, MAX_ROW_LAYOUTS)) {
      if (fitScore(rows, wished) >= least) break;
      const head = plan.headOf(state, state === plan.root ? 0 : rows.width + 32);
      const laid = layOutInRows(state, head, parts, pieces, rows, exits);
      if (laid === null) continue;
      const score = fitScore(laid, wished) + laid.cost;
      if (score < least) {
        least = score;
        best = laid;
      }
    }
    return best;
  };
  const layIn = async (state: ChartState, manner: Manner): Promise<LaidState> => {
    const parts: LaidState[] = [];
    for (const child of plan.childrenOf(state.id)) parts.push(await lay(child, manner.direction));
    const pieces = plan.pieces.get(state.id) ?? [];
    const isRoot = state === plan.root;
    const attempt = async (head: Head): Promise<LaidState> =>
      readLaid(state, head, parts, pieces, await elk.layout(elkGraph(state.id, parts, pieces, head, manner)));
    const first = plan.headOf(state, isRoot ? 0 : widthOfParts(parts));
    const laid = await attempt(first);
    // The head of a box as wide as this may need fewer rows, or more.
    const head = plan.headOf(state, laid.width);
    return head.height === first.height && head.width <= laid.width
      ? { ...laid, head }
      : { ...(await attempt(head)), head };
  };
  return lay;
}

const widthOfParts = (parts: readonly LaidState[]): number => Math.max(...parts.map(({ width }) => width)) + 32;

function leafOf(state: ChartState, plan: Plan): LaidState {
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
