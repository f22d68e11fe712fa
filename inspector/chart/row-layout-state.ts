import type { ChartState } from '../../src/engine/charts/chart.ts';
import type { Box } from './drawing.ts';
import { type Direction, LABEL_LENGTH, type LayoutPort, type Piece } from './elk-graph.ts';
import type { LaidState, Line, Point } from './laid-state.ts';
import { createRouter, GRID, type Port } from './line-router.ts';
import { placeLabels } from './place-labels.ts';
import type { RowLayout } from './row-layout.ts';
import { type Head, labelText } from './state-box.ts';
import { FONT, widthOf } from './text-size.ts';

const PAD = 16;
/** What it costs to leave by another side than the wished one. */
const ASIDE = 60;

/** What a bend of a line is worth, and a pixel of its way, in pixels of the whole. */
const BEND = 3;
const LENGTH = 0.03;

export interface ShelvedState extends LaidState {
  /** How much there is to follow with the eye; lower is better. */
  readonly cost: number;
}

/** The inside of a state on shelves, with lines between the boxes; null where a line finds no way. */
export function shelvedState(
  state: ChartState,
  head: Head,
  rooms: readonly LaidState[],
  pieces: readonly Piece[],
  shelves: RowLayout,
  exits: Direction,
): ShelvedState | null {
  const top = Math.ceil(head.height / GRID) * GRID + GRID;
  const width = Math.max(head.width, Math.ceil(shelves.width + 2 * PAD));
  const height = Math.ceil(top + shelves.height + PAD);
  const boxes = new Map(
    rooms.map((laid, place): [string, Box] => {
      const { x = 0, y = 0 } = shelves.boxes[place] ?? {};
      return [laid.id, { x: x + PAD, y: y + top, width: laid.width, height: laid.height }];
    }),
  );
  const doorOf = (id: string, edge: number): Port | null => {
    const room = rooms.find((laid) => laid.id === id);
    const box = boxes.get(id);
    const door = room?.doors.find((one) => one.edge === edge);
    return box === undefined || door === undefined ? null : portAt(box, door);
  };
  const extra = rooms.flatMap(({ id, doors }) => doors.map(({ edge }) => doorOf(id, edge) as Port));
  const area = { x: GRID, y: top - GRID, width: width - 2 * GRID, height: height - top };
  const router = createRouter(area, [...boxes.values()], extra);
  const lines = new Map<number, Line>();
  const doors: LayoutPort[] = [];
  const own: Box = { x: 0, y: 0, width, height };
  for (const piece of shortestFirst(pieces, boxes)) {
    const { edge, step, from, to, throughFrom, throughTo } = piece;
    const portsOf = (id: string | null, through: boolean, isEntry: boolean): readonly Port[] => {
      if (id === null) return borderPorts(own, top, exits, isEntry);
      const door = through ? doorOf(id, edge) : null;
      return door === null ? allPorts(boxes.get(id) ?? own) : [door];
    };
    const points = router.route(portsOf(from, throughFrom, true), portsOf(to, throughTo, false));
    if (points.length < 2) return null;
    const end = from === null ? points[0] : points.at(-1);
    if ((from === null || to === null) && end !== undefined)
      doors.push({ edge, x: end.x, y: end.y, isEntry: from === null });
    lines.set(edge, { step, points: corners(points), label: null });
  }
  const texts = new Map(pieces.map(({ edge, labels }) => [edge, widthOf(labelText(labels, LABEL_LENGTH), FONT.label)]));
  const labelled = placeLabels(lines, texts, [...boxes.values()], area);
  return {
    id: state.id,
    state,
    width,
    height,
    head,
    inset: null,
    isFixed: true,
    doors,
    rooms: rooms.map((laid) => ({ at: boxes.get(laid.id) ?? own, laid })),
    lines: labelled,
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

/** Places on the grid along all sides of a box, those in the middle first. */
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

/** Places along the side of the state's own border where lines come in, or go out. */
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

/** Only the points where the way turns. */
function corners(points: readonly Point[]): readonly Point[] {
  return points.filter((point, place) => {
    const before = points[place - 1];
    const after = points[place + 1];
    if (before === undefined || after === undefined) return true;
    return !((before.x === point.x && after.x === point.x) || (before.y === point.y && after.y === point.y));
  });
}

function lengthOf(points: readonly Point[]): number {
  return points.slice(1).reduce((sum, { x, y }, place) => {
    const before = points[place] ?? { x, y };
    return sum + Math.abs(x - before.x) + Math.abs(y - before.y);
  }, 0);
}
