import type { Box, DrawnEdge, DrawnLevel, Point } from './drawing.ts';

/** The direction across a line, the one along it, and the size of a box across it. */
type Way = readonly [across: 'x' | 'y', along: 'x' | 'y', size: 'width' | 'height'];
const WAYS: readonly Way[] = [
  ['x', 'y', 'width'],
  ['y', 'x', 'height'],
];

/** From a line to the corner of its box, and to anything beside the line, in pixels. */
const [CORNER, GAP, PAD] = [6, 8, 3];

/** Removes the jogs of lines whose ends can move along the sides of their boxes until they face each other, if the lines then touch and cross nothing new. */
export function straightened(level: DrawnLevel): DrawnLevel {
  const edges = [...level.edges];
  for (const [at, edge] of edges.entries())
    for (const way of WAYS) {
      const others = edges.filter((one) => one !== edge);
      const isFan = [edge, ...others].some(({ isBranch, source }) => isBranch && source === edge.source);
      edges[at] = (isFan ? undefined : straight(edge, others, level, way)) ?? edges[at] ?? edge;
    }
  return { ...level, edges };
}

function straight(edge: DrawnEdge, others: readonly DrawnEdge[], { states }: DrawnLevel, way: Way) {
  const { source, target, points, label } = edge;
  const [across, along, size] = way;
  const [start, before, after, end] = points;
  if (points.length !== 4 || !start || !before || !after || !end) return undefined;
  if (start[across] !== before[across] || before[along] !== after[along] || after[across] !== end[across])
    return undefined;
  const rangeOf = (id: string | null, { [across]: place }: Point): readonly [number, number] => {
    const box = states.find((state) => state.id === id);
    return box === undefined ? [place, place] : [box[across] + CORNER, box[across] + box[size] - CORNER];
  };
  const ranges = [rangeOf(source, start), rangeOf(target, end)];
  const low = Math.max(...ranges.map(([from]) => from));
  const high = Math.min(...ranges.map(([, to]) => to));
  if (low > high) return undefined;
  const boxes = states.filter(({ id, isOpen }) => !isOpen && id !== source && id !== target);
  const labels = others.flatMap((one) => one.label ?? []);
  const segments = others.flatMap((one) => segmentsOf(one.points));
  for (const place of [end[across], start[across], (low + high) / 2]) {
    const at = Math.round(10 * Math.max(low, Math.min(high, place))) / 10;
    const line = [
      { ...start, [across]: at },
      { ...end, [across]: at },
    ];
    const [drawn] = segmentsOf(line) as [Box];
    const moved = label && { ...label, [across]: at - label[size] / 2 };
    const isClose = segments.some(
      (one) =>
        one[size] === 0 && Math.abs(one[across] - at) < GAP && overlap(one, { ...drawn, [across]: one[across] }, 1),
    );
    const isOver = [...boxes, ...labels].some((box) => overlap(box, drawn, PAD));
    // The box of a label has room for a count: a line may touch it.
    const isHidden =
      moved !== null &&
      ([...boxes, ...labels].some((box) => overlap(box, moved, 1)) || segments.some((one) => overlap(one, moved, -2)));
    if (!isClose && !isOver && !isHidden && crossings(line, segments) <= crossings(points, segments))
      return { ...edge, points: line, label: moved };
  }
  return undefined;
}

const crossings = (points: readonly Point[], segments: readonly Box[]): number =>
  segmentsOf(points).reduce((sum, part) => sum + segments.filter((one) => overlap(one, part, 0.5)).length, 0);

const segmentsOf = (points: readonly Point[]): readonly Box[] =>
  points.slice(1).map(({ x, y }, at) => {
    const before = points[at] ?? { x, y };
    return {
      x: Math.min(before.x, x),
      y: Math.min(before.y, y),
      width: Math.abs(before.x - x),
      height: Math.abs(before.y - y),
    };
  });

const overlap = (one: Box, other: Box, pad: number): boolean =>
  one.x + one.width + pad > other.x &&
  other.x + other.width + pad > one.x &&
  one.y + one.height + pad > other.y &&
  other.y + other.height + pad > one.y;
