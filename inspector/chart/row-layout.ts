import type { ChartState } from '../../src/engine/charts/chart.ts';
import type { Box } from './drawing.ts';
import {
  type Direction,
  LABEL_HEIGHT,
  LABEL_LENGTH,
  type LayoutPort,
  type Line,
  type Piece,
  type Point,
  type StateLayout,
} from './elk-layout.ts';
import { createRouter, GRID, type Port } from './line-router.ts';
import { FONT, type Head, labelText, widthOf } from './state-box.ts';

const GAP = 32;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Boxes in rows, in reading order: small boxes are stacked, and a full row starts a new one. */
interface RowLayout extends Size {
  readonly boxes: readonly Box[];
}

/** Candidate arrangements, best fit for these proportions first. */
export function rowLayoutOf(sizes: readonly Size[], aspect: number): readonly RowLayout[] {
  const heights = [...new Set(sizes.map(({ height }) => height))];
  const stacks = [0, ...heights, ...heights.map((height) => height * 1.25), ...heights.map((height) => height * 1.6)];
  const total = sizes.reduce((sum, { width }) => sum + width + GAP, 0);
  const arranged = stacks.flatMap((stack) =>
    [1, 0.75, 0.6, 0.5, 0.42, 0.36, 0.3, 0.25].map((share) => arrange(sizes, stack, total * share)),
  );
  return arranged.sort((one, other) => fitScore(one, aspect) - fitScore(other, aspect));
}

function arrange(sizes: readonly Size[], stack: number, max: number): RowLayout {
  const rows: Size[][][] = [[]];
  let width = 0;
  for (const column of columnsOf(sizes, stack)) {
    const wide = Math.max(...column.map((size) => size.width));
    if (width > 0 && width + wide > max) {
      rows.push([]);
      width = 0;
    }
    rows.at(-1)?.push([...column]);
    width += wide + GAP;
  }
  const boxes: Box[] = [];
  let y = 0;
  let widest = 0;
  for (const row of rows) {
    const tall = Math.max(...row.map(heightOf));
    let bottom = y;
    let x = 0;
    for (const column of row) {
      const wide = Math.max(...column.map((size) => size.width));
      // Center columns that are lower than their row.
      let top = y + snap((tall - heightOf(column)) / 2);
      for (const size of column) {
        boxes.push({ x: x + snap((wide - size.width) / 2), y: top, width: size.width, height: size.height });
        bottom = Math.max(bottom, top + size.height);
        top = snap(top + size.height + GAP);
      }
      x = snap(x + wide + GAP);
    }
    widest = Math.max(widest, x - GAP);
    y = snap(bottom + GAP);
  }
  const height = Math.max(...boxes.map((box) => box.y + box.height));
  return { width: Math.max(widest, ...boxes.map((box) => box.x + box.width)), height, boxes };
}

function columnsOf(sizes: readonly Size[], stack: number): readonly (readonly Size[])[] {
  const columns: Size[][] = [];
  for (const size of sizes) {
    const column = columns.at(-1);
    if (column !== undefined && heightOf([...column, size]) <= stack) column.push(size);
    else columns.push([size]);
  }
  return columns;
}

const heightOf = (column: readonly Size[]): number => column.reduce((sum, { height }) => sum + height + GAP, -GAP);

const snap = (length: number): number => Math.ceil(length / GRID) * GRID;

const PAD = 16;
/** The cost of leaving by another side than the preferred one. */
const ASIDE = 60;

/** The cost of a bend, and of a pixel of line length, in pixels of the total size. */
const BEND = 3;
const LENGTH = 0.03;

interface RowsState extends StateLayout {
  /** The total length and bends of the lines; lower is better. */
  readonly cost: number;
}

/** Lays out the inside of a state in rows, with lines between the boxes; null if a line has no route. */
export function layOutInRows(
  state: ChartState,
  head: Head,
  parts: readonly StateLayout[],
  pieces: readonly Piece[],
  rows: RowLayout,
  exits: Direction,
): RowsState | null {
  const top = Math.ceil(head.height / GRID) * GRID + GRID;
  const width = Math.max(head.width, Math.ceil(rows.width + 2 * PAD));
  const height = Math.ceil(top + rows.height + PAD);
  const boxes = new Map(
    parts.map((layout, index): [string, Box] => {
      const { x = 0, y = 0 } = rows.boxes[index] ?? {};
      return [layout.id, { x: x + PAD, y: y + top, width: layout.width, height: layout.height }];
    }),
  );
  const crossingOf = (id: string, edge: number): Port | null => {
    const part = parts.find((layout) => layout.id === id);
    const box = boxes.get(id);
    const crossing = part?.crossings.find((one) => one.edge === edge);
    return box === undefined || crossing === undefined ? null : portAt(box, crossing);
  };
  const extra = parts.flatMap(({ id, crossings }) => crossings.map(({ edge }) => crossingOf(id, edge) as Port));
  const area = { x: GRID, y: top - GRID, width: width - 2 * GRID, height: height - top };
  const router = createRouter(area, [...boxes.values()], extra);
  const lines = new Map<number, Line>();
  const crossings: LayoutPort[] = [];
  const own: Box = { x: 0, y: 0, width, height };
  for (const piece of shortestFirst(pieces, boxes)) {
    const { edge, step, from, to, throughFrom, throughTo } = piece;
    const portsOf = (id: string | null, through: boolean, isEntry: boolean): readonly Port[] => {
      if (id === null) return borderPorts(own, top, exits, isEntry);
      const crossing = through ? crossingOf(id, edge) : null;
      return crossing === null ? allPorts(boxes.get(id) ?? own) : [crossing];
    };
    const points = router.route(portsOf(from, throughFrom, true), portsOf(to, throughTo, false));
    if (points.length < 2) return null;
    const end = from === null ? points[0] : points.at(-1);
    if ((from === null || to === null) && end !== undefined)
      crossings.push({ edge, x: end.x, y: end.y, isEntry: from === null });
    lines.set(edge, { step, points: corners(points), label: null });
  }
  const texts = new Map(pieces.map(({ edge, labels }) => [edge, widthOf(labelText(labels, LABEL_LENGTH), FONT.label)]));
  const labeled = placeLabels(lines, texts, [...boxes.values()], area);
  return {
    id: state.id,
    state,
    width,
    height,
    head,
    inset: null,
    isFixed: true,
    crossings,
    parts: parts.map((layout) => ({ at: boxes.get(layout.id) ?? own, layout })),
    lines: labeled,
    cost: [...lines.values()].reduce(
      (sum, { points }) => sum + (points.length - 2) * BEND + lengthOf(points) * LENGTH,
      0,
    ),
  };
}

function shortestFirst(pieces: readonly Piece[], boxes: ReadonlyMap<string, Box>): readonly Piece[] {
  const length = ({ from, to }: Piece): number => {
    const one = from === null ? undefined : boxes.get(from);
    const other = to === null ? undefined : boxes.get(to);
    if (one === undefined || other === undefined) return 100_000;
    return Math.abs(one.x + one.width / 2 - other.x - other.width / 2) + Math.abs(one.y - other.y);
  };
  return [...pieces].sort((one, other) => length(one) - length(other));
}

function portAt(box: Box, { x, y }: Point): Port {
  const at = { x: box.x + x, y: box.y + y, cost: 0 };
  if (x >= box.width - 1) return { ...at, outX: 1, outY: 0 };
  if (x <= 1) return { ...at, outX: -1, outY: 0 };
  return { ...at, outX: 0, outY: y <= 1 ? -1 : 1 };
}

/** Grid points along all sides of a box; points near the middle of a side cost less. */
function allPorts({ x, y, width, height }: Box): readonly Port[] {
  const ports: Port[] = [];
  for (let at = Math.ceil((x + 10) / GRID) * GRID; at <= x + width - 10; at += GRID) {
    const cost = Math.abs(at - x - width / 2) * 0.25;
    ports.push({ x: at, y, outX: 0, outY: -1, cost }, { x: at, y: y + height, outX: 0, outY: 1, cost });
  }
  for (let at = Math.ceil((y + 8) / GRID) * GRID; at <= y + height - 8; at += GRID) {
    const cost = Math.abs(at - y - height / 2) * 0.25;
    ports.push({ x, y: at, outX: -1, outY: 0, cost }, { x: x + width, y: at, outX: 1, outY: 0, cost });
  }
  return ports;
}

/** Ports along the state's own border, for lines that enter or leave it. */
function borderPorts({ width, height }: Box, top: number, exits: Direction, isEntry: boolean): readonly Port[] {
  const ports: Port[] = [];
  if (exits === 'RIGHT')
    for (let y = top; y <= height - 2 * GRID; y += GRID)
      ports.push({ x: isEntry ? 0 : width, y, outX: isEntry ? 1 : -1, outY: 0, cost: 0 });
  const besides = exits === 'RIGHT' ? ASIDE : 0;
  if (!isEntry)
    for (let x = 3 * GRID; x <= width - 3 * GRID; x += GRID)
      ports.push({ x, y: height, outX: 0, outY: -1, cost: besides });
  return ports;
}

/** Keeps only the points where the line turns. */
function corners(points: readonly Point[]): readonly Point[] {
  return points.filter((point, index) => {
    const before = points[index - 1];
    const after = points[index + 1];
    if (before === undefined || after === undefined) return true;
    return !((before.x === point.x && after.x === point.x) || (before.y === point.y && after.y === point.y));
  });
}

function lengthOf(points: readonly Point[]): number {
  return points.slice(1).reduce((sum, { x, y }, index) => {
    const before = points[index] ?? { x, y };
    return sum + Math.abs(x - before.x) + Math.abs(y - before.y);
  }, 0);
}

/**
 * Places labels on lines, clear of boxes, other labels and other lines. A label without room is omitted; selecting the line
 * still shows its transitions.
 */
function placeLabels(
  lines: ReadonlyMap<number, Line>,
  widths: ReadonlyMap<number, number>,
  boxes: readonly Box[],
  area: Box,
): ReadonlyMap<number, Line> {
  const taken: Box[] = boxes.map((box) => grown(box, 1));
  const others = [...lines].flatMap(([edge, { points }]) =>
    segmentsOf(points).map((box) => ({ edge, box: grown(box, 2) })),
  );
  const placed = new Map(lines);
  for (const [edge, line] of lines) {
    const text = widths.get(edge) ?? 0;
    if (text === 0) continue;
    const free = (box: Box): boolean =>
      isWithin(box, area) &&
      taken.every((one) => !overlap(one, box)) &&
      others.every((one) => one.edge === edge || !overlap(one.box, box));
    const label = positionsOn(line.points, text + 4).find(free);
    if (label === undefined) continue;
    taken.push(grown(label, 2));
    placed.set(edge, { ...line, label });
  }
  return placed;
}

/** Candidate label positions on a line: long segments first, near their middle first. */
function positionsOn(points: readonly Point[], width: number): readonly Box[] {
  const found: { readonly box: Box; readonly cost: number }[] = [];
  for (const segment of segmentsOf(points)) {
    const isLevel = segment.width >= segment.height;
    const length = Math.max(segment.width, segment.height);
    const needed = isLevel ? width + 16 : LABEL_HEIGHT + 12;
    if (length < needed) continue;
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
      const at = needed / 2 + share * (length - needed);
      const x = isLevel ? segment.x + at : segment.x;
      const y = isLevel ? segment.y : segment.y + at;
      const box = { x: x - width / 2, y: y - LABEL_HEIGHT / 2, width, height: LABEL_HEIGHT };
      found.push({ box, cost: Math.abs(share - 0.5) * 60 - Math.min(length, 160) * 0.2 });
    }
  }
  return found.sort((one, other) => one.cost - other.cost).map(({ box }) => box);
}

function segmentsOf(points: readonly Point[]): readonly Box[] {
  return points.slice(1).map((point, index) => {
    const before = points[index] ?? point;
    return {
      x: Math.min(before.x, point.x),
      y: Math.min(before.y, point.y),
      width: Math.abs(before.x - point.x),
      height: Math.abs(before.y - point.y),
    };
  });
}

function grown({ x, y, width, height }: Box, by: number): Box {
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by };
}

function overlap(one: Box, other: Box): boolean {
  const apart =
    one.x + one.width < other.x ||
    other.x + other.width < one.x ||
    one.y + one.height < other.y ||
    other.y + other.height < one.y;
  return !apart;
}

function isWithin(box: Box, area: Box): boolean {
  return (
    box.x >= area.x &&
    box.y >= area.y &&
    box.x + box.width <= area.x + area.width &&
    box.y + box.height <= area.y + area.height
  );
}

/** How well a box fits an area of these proportions; lower is better. */
export function fitScore({ width, height }: Size, aspect: number): number {
  return Math.max(width / aspect, height) + (width / aspect + height) * 0.1;
}
