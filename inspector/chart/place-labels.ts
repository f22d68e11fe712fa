import type { Box } from './drawing.ts';
import { LABEL_HEIGHT } from './elk-graph.ts';
import type { Line, Point } from './laid-state.ts';

/**
 * Puts the labels of lines on them, where each has room beside boxes, other labels and other lines; one that has none is left
 * out, and is told where its line is looked at.
 */
export function placeLabels(
  lines: ReadonlyMap<number, Line>,
  widths: ReadonlyMap<number, number>,
  boxes: readonly Box[],
  area: Box,
): ReadonlyMap<number, Line> {
  const taken: Box[] = boxes.map((box) => grown(box, 1));
  const others = [...lines].flatMap(([edge, { points }]) =>
    stretches(points).map((box) => ({ edge, box: grown(box, 2) })),
  );
  const placed = new Map(lines);
  for (const [edge, line] of lines) {
    const text = widths.get(edge) ?? 0;
    if (text === 0) continue;
    const free = (box: Box): boolean =>
      isWithin(box, area) &&
      taken.every((one) => !overlap(one, box)) &&
      others.every((one) => one.edge === edge || !overlap(one.box, box));
    const label = placesOn(line.points, text + 4).find(free);
    if (label === undefined) continue;
    taken.push(grown(label, 2));
    placed.set(edge, { ...line, label });
  }
  return placed;
}

/** Places on a line, those on its longest stretches and nearest to their middles first. */
function placesOn(points: readonly Point[], width: number): readonly Box[] {
  const found: { readonly box: Box; readonly cost: number }[] = [];
  for (const stretch of stretches(points)) {
    const isLevel = stretch.width >= stretch.height;
    const length = Math.max(stretch.width, stretch.height);
    const needed = isLevel ? width + 16 : LABEL_HEIGHT + 12;
    if (length < needed) continue;
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
      const at = needed / 2 + share * (length - needed);
      const x = isLevel ? stretch.x + at : stretch.x;
      const y = isLevel ? stretch.y : stretch.y + at;
      const box = { x: x - width / 2, y: y - LABEL_HEIGHT / 2, width, height: LABEL_HEIGHT };
      found.push({ box, cost: Math.abs(share - 0.5) * 60 - Math.min(length, 160) * 0.2 });
    }
  }
  return found.sort((one, other) => one.cost - other.cost).map(({ box }) => box);
}

function stretches(points: readonly Point[]): readonly Box[] {
  return points.slice(1).map((point, place) => {
    const before = points[place] ?? point;
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
