import type { Box, Point } from './drawing.ts';
import { createRouter, GRID, type Port } from './line-router.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A state in document order; an open one contains its parts. */
export interface SnakeNode {
  readonly id: string;
  readonly size: Size;
  /** Null if the state is not open. */
  readonly parts: readonly SnakeNode[] | null;
}

export interface SnakeLine {
  readonly source: string;
  readonly target: string;
  readonly label: number;
  /** The line may have a smaller label, or none. */
  readonly isBranch: boolean;
  /** Lines of the same bundle (a number from 1) share their path. */
  readonly bundle: number;
}

interface SnakeLayout extends Placed {
  /** In the order of the lines. */
  readonly routes: readonly { readonly points: readonly Point[]; readonly label: Box | null }[];
  /** Length, bends and crossings of all lines; lower is better. */
  readonly cost: number;
  readonly unlabeled: number;
}

export const LABEL_LINE = 14;
/** Room for the count of a branch. */
export const COUNT_WIDTH = 34;
const HEAD = 32;
const PAD = 10;
const EDGE = 1;
const MAX_COLUMNS = 6;
/** The gaps between columns and rows that are tried until there is room for all labels. */
const GAPS = [
  { x: 112, y: 40 },
  { x: 112, y: 64 },
  { x: 112, y: 88 },
  { x: 128, y: 64 },
  { x: 136, y: 88 },
  { x: 152, y: 56 },
  { x: 168, y: 72 },
  { x: 200, y: 96 },
] as const;

/**
 * Lays out states in rows that run back and forth, in document order, so that a sequence reads like a text and a cycle closes. Returns one
 * layout for each number of columns in which all lines and labels have room. For a large level, only one number of columns is tried.
 */
export function snakeLayouts(root: SnakeNode, lines: readonly SnakeLine[], isLarge: boolean): readonly SnakeLayout[] {
  const layouts: SnakeLayout[] = [];
  for (const columns of isLarge ? [MAX_COLUMNS] : [2, 3, 4, 5, 6]) {
    const tried: SnakeLayout[] = [];
    for (const gap of isLarge ? GAPS.slice(-1) : GAPS) {
      const layout = routed(placed(root, columns, { x: gap.x, y: [gap.y] }), root, lines);
      if (layout !== null) tried.push(layout);
      if (layout?.unlabeled === 0) break;
    }
    const [best] = tried.sort((one, other) => one.unlabeled - other.unlabeled);
    if (best !== undefined) layouts.push(isLarge ? best : tightened(best, root, lines, columns));
  }
  return layouts;
}

/** The gaps between columns, and below each row; the last one also applies to the rows after it. */
interface Gaps {
  readonly x: number;
  readonly y: readonly number[];
}

/** The increase in cost that is accepted for a smaller gap. */
const DETOUR = 10;
/** Smaller gaps to try for single rows. */
const LOW_GAPS = [24, 32, 40, 48] as const;

/** Moves rows closer together as long as there is room for all labels, and no line has to take a detour. */
function tightened(layout: SnakeLayout, root: SnakeNode, lines: readonly SnakeLine[], columns: number): SnakeLayout {
  let best = layout;
  for (let row = 0; row < layout.rows; row += 1)
    for (const low of LOW_GAPS) {
      const y = Array.from({ length: layout.rows }, (_, index) => best.gaps.y[index] ?? best.gaps.y.at(-1) ?? 0);
      if (low >= (y[row] ?? 0)) break;
      const tried = routed(placed(root, columns, { x: best.gaps.x, y: y.with(row, low) }), root, lines);
      if (tried === null || tried.unlabeled > best.unlabeled || tried.cost > best.cost + DETOUR) continue;
      best = tried;
      break;
    }
  return best;
}

interface Placed extends Size {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly gaps: Gaps;
  readonly rows: number;
}

/** Places all boxes in columns of equal width. */
function placed(root: SnakeNode, columns: number, gaps: Gaps): Placed {
  let count = 0;
  const gapBelow = (): number => {
    count += 1;
    return gaps.y[count - 1] ?? gaps.y.at(-1) ?? 0;
  };
  const boxes = new Map<string, Box>();
  const widest = Math.max(...leavesOf(root).map(({ size }) => size.width));
  const wide = snap(widest);
  const place = (
    { id, parts }: SnakeNode,
    left: number,
    top: number,
    depth: number,
  ): { readonly bottom: number; readonly right: number } => {
    const rows = rowsOf(parts ?? [], columns);
    let y = top;
    let right = left + columns * (wide + gaps.x) - gaps.x;
    let gap = 0;
    let flows = 1;
    for (const row of rows) {
      const [first] = row;
      if (row.length === 1 && first?.parts != null) {
        const inside = place(first, left + PAD, y + HEAD, depth + 1);
        gap = gapBelow();
        right = Math.max(right, inside.right);
        y = snap(inside.bottom + PAD) + gap;
        continue;
      }
      const tall = snap(Math.max(...row.map(({ size }) => size.height)));
      for (const [at, part] of row.entries()) {
        const column = flows > 0 ? at : columns - 1 - at;
        const { width, height } = part.size;
        const x = left + column * (wide + gaps.x) + (wide - width) / 2;
        boxes.set(part.id, { x, y: y + (tall - height) / 2, width, height });
      }
      flows = -flows;
      gap = gapBelow();
      y += tall + gap;
    }
    const bottom = y - gap;
    if (depth > 0)
      boxes.set(id, {
        x: left - PAD,
        y: top - HEAD,
        width: right - left + 2 * PAD,
        height: bottom + PAD - top + HEAD,
      });
    return { bottom, right: right + PAD };
  };
  const margin = 10 * GRID;
  const { bottom } = place(root, margin, margin, 0);
  const right = Math.max(...[...boxes.values()].map(({ x, width }) => x + width));
  return { boxes, width: snap(right + margin), height: snap(bottom + margin), gaps, rows: count };
}

function rowsOf(parts: readonly SnakeNode[], columns: number): readonly (readonly SnakeNode[])[] {
  const rows: SnakeNode[][] = [];
  for (const part of parts) {
    const row = rows.at(-1);
    const isFull = row === undefined || row.length === columns || row[0]?.parts != null;
    if (isFull || part.parts !== null) rows.push([part]);
    else row.push(part);
  }
  return rows;
}

const leavesOf = (node: SnakeNode): readonly SnakeNode[] =>
  node.parts === null ? [node] : node.parts.flatMap(leavesOf);

const snap = (length: number): number => Math.ceil(length / GRID) * GRID;

/** The maximum number of routing orders; a line without room is routed first in the next. */
const MAX_TRIES = 6;

/** Routes all lines, the shortest first, and puts the label of each where nothing else is; null if there is no room. */
function routed(area: Placed, root: SnakeNode, lines: readonly SnakeLine[]): SnakeLayout | null {
  let order: readonly number[] = [...lines.keys()].sort(
    (one, other) => lengthBetween(lines[one], area.boxes) - lengthBetween(lines[other], area.boxes),
  );
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const layout = routedIn(order, area, root, lines);
    if (typeof layout !== 'number') return layout;
    order = [layout, ...order.filter((index) => index !== layout)];
  }
  return null;
}

/** Routes all lines in an order; returns the index of the first without room. */
function routedIn(
  order: readonly number[],
  { boxes, width, height, gaps, rows }: Placed,
  root: SnakeNode,
  lines: readonly SnakeLine[],
): SnakeLayout | number {
  const leaves = leavesOf(root).map(({ id }) => boxes.get(id) as Box);
  const isLeaf = new Set(leavesOf(root).map(({ id }) => id));
  const heads = [...boxes].flatMap(([id, box]) =>
    isLeaf.has(id) ? [] : [{ ...box, height: HEAD - 8, width: box.width / 3 }],
  );
  const router = createRouter({ x: 0, y: 0, width, height }, [...leaves, ...heads]);
  const borders = [...boxes].flatMap(([id, box]) => (isLeaf.has(id) ? [] : sidesOf(box)));
  const routes: { readonly points: readonly Point[]; readonly label: Box | null }[] = [];
  const drawn: { readonly box: Box; readonly bundle: number }[] = [];
  const labels: Box[] = [];
  let cost = 0;
  let unlabeled = 0;
  for (const index of order) {
    const { source, target, label, bundle, isBranch } = lines[index] as SnakeLine;
    const [from, to] = [portsOf(boxes.get(source) as Box), portsOf(boxes.get(target) as Box)];
    const points = corners(
      source === target
        ? router.route(
            from.filter(({ outX }) => outX !== 0),
            to.filter(({ outY }) => outY !== 0),
            bundle,
          )
        : router.route(from, to, bundle),
    );
    if (points.length < 2) return index;
    const roomFor = (size: number): Box | undefined =>
      positionsOn(points, size).find(
        (box) =>
          isWithin(box, width, height) &&
          [...leaves, ...heads, ...labels, ...borders].every((other) => !overlap(grown(other, 1), box)) &&
          drawn.every((other) => other.bundle === bundle || !overlap(grown(other.box, 3), box)),
      );
    const room = roomFor(label) ?? (isBranch ? roomFor(COUNT_WIDTH) : undefined);
    if (room === undefined && !isBranch) return index;
    if (room === undefined || room.width < label) unlabeled += 1;
    for (const box of sidesAlong(points)) drawn.push({ box, bundle });
    if (room !== undefined) {
      labels.push(room);
      router.block(room);
    }
    routes[index] = { points, label: room ?? null };
    cost += points.length * 8 + lengthOf(points) * 0.1;
  }
  return { ...cropped(boxes, routes), cost, unlabeled, gaps, rows };
}

/** Cuts the empty margin. */
function cropped(boxes: ReadonlyMap<string, Box>, routes: SnakeLayout['routes']) {
  const points = [
    ...[...boxes.values(), ...routes.flatMap(({ label }) => label ?? [])].flatMap(({ x, y, width, height }) => [
      { x, y },
      { x: x + width, y: y + height },
    ]),
    ...routes.flatMap((route) => route.points),
  ];
  const left = Math.min(...points.map(({ x }) => x)) - EDGE;
  const top = Math.min(...points.map(({ y }) => y)) - EDGE;
  const move = <Type extends Point>(point: Type): Type => ({ ...point, x: point.x - left, y: point.y - top });
  return {
    width: Math.max(...points.map(({ x }) => x)) - left + EDGE,
    height: Math.max(...points.map(({ y }) => y)) - top + EDGE,
    boxes: new Map([...boxes].map(([id, box]) => [id, move(box)])),
    routes: routes.map((route) => ({
      points: route.points.map(move),
      label: route.label === null ? null : move(route.label),
    })),
  };
}

function lengthBetween(line: SnakeLine | undefined, boxes: ReadonlyMap<string, Box>): number {
  const [one, other] = [boxes.get(line?.source ?? ''), boxes.get(line?.target ?? '')];
  if (one === undefined || other === undefined) return 0;
  const apart =
    Math.abs(one.x + one.width / 2 - other.x - other.width / 2) +
    Math.abs(one.y + one.height / 2 - other.y - other.height / 2);
  return apart + (line?.isBranch ? 2_000 : 0);
}

/** Grid points along all sides of a box; points near the middle of a side cost less. */
function portsOf({ x, y, width, height }: Box): readonly Port[] {
  const ports: Port[] = [];
  for (let at = snap(x + 6); at <= x + width - 6; at += GRID) {
    const cost = Math.abs(at - x - width / 2) * 0.25;
    ports.push({ x: at, y, outX: 0, outY: -1, cost }, { x: at, y: y + height, outX: 0, outY: 1, cost });
  }
  for (let at = snap(y + 6); at <= y + height - 6; at += GRID) {
    const cost = Math.abs(at - y - height / 2) * 0.25;
    ports.push({ x, y: at, outX: -1, outY: 0, cost }, { x: x + width, y: at, outX: 1, outY: 0, cost });
  }
  return ports;
}

function corners(points: readonly Point[]): readonly Point[] {
  return points.filter((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    if (before === undefined || after === undefined) return true;
    return !((before.x === point.x && after.x === point.x) || (before.y === point.y && after.y === point.y));
  });
}

const lengthOf = (points: readonly Point[]): number =>
  sidesAlong(points).reduce((sum, { width, height }) => sum + width + height, 0);

/** Possible places of a label on a line: on level segments before upright ones, near the middle first. */
function positionsOn(points: readonly Point[], width: number): readonly Box[] {
  const found: { readonly box: Box; readonly cost: number }[] = [];
  for (const segment of sidesAlong(points)) {
    const isLevel = segment.width >= segment.height;
    const length = Math.max(segment.width, segment.height);
    const needed = isLevel ? width + 8 : LABEL_LINE + 12;
    if (length < needed) continue;
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9, 0, 1]) {
      const at = needed / 2 + share * (length - needed);
      const x = isLevel ? segment.x + at : segment.x;
      const y = isLevel ? segment.y : segment.y + at;
      const box = { x: x - width / 2, y: y - LABEL_LINE / 2, width, height: LABEL_LINE };
      found.push({ box, cost: Math.abs(share - 0.5) * 60 - Math.min(length, 160) * 0.2 });
    }
  }
  return found.sort((one, other) => one.cost - other.cost).map(({ box }) => box);
}

function sidesAlong(points: readonly Point[]): readonly Box[] {
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

const sidesOf = ({ x, y, width, height }: Box): readonly Box[] => [
  { x, y, width, height: 0 },
  { x, y: y + height, width, height: 0 },
  { x, y, width: 0, height },
  { x: x + width, y, width: 0, height },
];

const grown = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

function overlap(one: Box, other: Box): boolean {
  return (
    one.x + one.width > other.x &&
    other.x + other.width > one.x &&
    one.y + one.height > other.y &&
    other.y + other.height > one.y
  );
}

const isWithin = (box: Box, width: number, height: number): boolean =>
  box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
