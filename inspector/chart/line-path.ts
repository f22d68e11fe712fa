import type { Point } from './laid-state.ts';

const RADIUS = 6;
const ARROW = { length: 10, half: 4.6 } as const;

/** A line through points, its corners rounded; it ends where the head of its arrow begins. */
export function linePath(points: readonly Point[]): string {
  const last = points.at(-1);
  const before = points.at(-2);
  if (last === undefined || before === undefined) return '';
  const end = towards(last, before, ARROW.length - 1);
  const way = [...points.slice(0, -1), end];
  return way
    .map((point, place) => {
      const from = way[place - 1];
      const to = way[place + 1];
      if (from === undefined) return `M${at(point)}`;
      if (to === undefined) return `L${at(point)}`;
      const radius = Math.min(RADIUS, distance(from, point) / 2, distance(point, to) / 2);
      return `L${at(towards(point, from, radius))}Q${at(point)} ${at(towards(point, to, radius))}`;
    })
    .join('');
}

/** The head of an arrow at the end of a line. */
export function arrowPath(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return '';
  const base = towards(tip, before, ARROW.length);
  const length = distance(tip, before) || 1;
  const side = { x: (-(tip.y - before.y) / length) * ARROW.half, y: ((tip.x - before.x) / length) * ARROW.half };
  const [one, other] = [
    { x: base.x + side.x, y: base.y + side.y },
    { x: base.x - side.x, y: base.y - side.y },
  ];
  return `M${at(tip)}L${at(one)}L${at(other)}Z`;
}

function towards(from: Point, to: Point, by: number): Point {
  const length = distance(from, to) || 1;
  const share = Math.min(1, by / length);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

const distance = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);
const at = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
const round = (length: number): number => Math.round(length * 10) / 10;
