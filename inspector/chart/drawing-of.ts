import type { Chart } from '../../src/engine/charts/chart.ts';
import type { Edge } from '../../src/engine/charts/edges.ts';
import type { Box, Drawing, DrawnEdge, DrawnState } from './drawing.ts';
import type { LaidState, Line, Point } from './laid-state.ts';
import { noteOf } from './state-box.ts';

/** The layout of a chart in the coordinates of the chart, rounded: the pieces of each edge are one line again. */
export function drawingOf(chart: Chart, edges: readonly Edge[], root: LaidState): Drawing {
  const states: DrawnState[] = [];
  const lines = new Map<number, Line[]>();
  const initials = new Set(chart.states.flatMap(({ initial }) => (initial === null ? [] : [initial])));
  const visit = (laid: LaidState, at: Point): void => {
    if (laid !== root) states.push(stateOf(laid, at, initials));
    for (const [edge, line] of laid.lines) lines.set(edge, [...(lines.get(edge) ?? []), moved(line, at)]);
    for (const room of laid.rooms) visit(room.laid, { x: at.x + room.at.x, y: at.y + room.at.y });
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
