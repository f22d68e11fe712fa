import type { Box, Drawing, DrawnLevel } from '../../../inspector/chart/drawing.ts';
import type { Chart } from '../../../src/durable/charts/chart.ts';

/** Returns the flaws in the drawing of a valid chart, one sentence each. */
export function drawingFlaws(chart: Chart, levels: Drawing): readonly string[] {
  const parents = new Map(chart.states.map(({ id, parent }) => [id, parent]));
  const flaws = Object.entries(levels).flatMap(([root, level]) => [
    ...stateFlaws(level, (id) => parents.get(id) ?? ''),
    ...lineFlaws(level, root),
  ]);
  const levelsOfStates = Object.entries(levels).flatMap(([root, level]) => (parents.has(root) ? level : []));
  const drawn = levelsOfStates.flatMap(({ states }) => states.map(({ id }) => id));
  const expected = chart.states.filter(({ id }) => id !== chart.id).map(({ id }) => id);
  if (expected.sort().join() !== drawn.sort().join()) flaws.push('a state is missing or drawn twice');
  const edges = Object.values(levels).flatMap((level) => level.edges);
  for (const [index, { source }] of chart.transitions.entries()) {
    const isKnown = chart.states.some(({ id }) => id === source);
    if (isKnown && !edges.some(({ transitions }) => transitions.includes(index)))
      flaws.push(`transition ${index} of ${source} is missing`);
  }
  return flaws;
}

function stateFlaws({ states, width, height }: DrawnLevel, parentOf: (id: string) => string): readonly string[] {
  const flaws: string[] = [];
  const boxes = new Map(states.map((state) => [state.id, state]));
  const whole = { x: 0, y: 0, width, height };
  for (const state of states) {
    const around = boxes.get(parentOf(state.id)) ?? whole;
    if (!isWithin(state, around)) flaws.push(`${state.id} is outside its parent`);
    for (const other of states)
      if (parentOf(other.id) === parentOf(state.id) && other.id < state.id && overlap(other, state))
        flaws.push(`${state.id} and ${other.id} overlap`);
  }
  return flaws;
}

function lineFlaws({ states, edges }: DrawnLevel, root: string): readonly string[] {
  const flaws: string[] = [];
  const boxes = new Map(states.map((state) => [state.id, state]));
  const labels: Box[] = [];
  for (const [index, one] of edges.entries())
    for (const other of edges.slice(0, index)) {
      // The lines of a fan leave their state together.
      const isFan = one.source === other.source && (one.isBranch || other.isBranch);
      if (!isFan && segmentsOf(one).some((part) => segmentsOf(other).some((another) => isShared(part, another))))
        flaws.push(`${root}: ${one.source} → ${one.target} and ${other.source} → ${other.target} share a segment`);
    }
  for (const { source, target, points, label, isBranch } of edges) {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) continue;
    const name = `${root}: ${source} → ${target}`;
    if (source !== null && !isOnBorder(first, boxes.get(source))) flaws.push(`${name} does not start on its source`);
    if (target !== null && !isOnBorder(last, boxes.get(target))) flaws.push(`${name} does not end on its target`);
    for (const segment of segmentsOf({ points })) {
      if (segment.width > 0.5 && segment.height > 0.5) flaws.push(`${name} has a diagonal segment`);
      for (const state of states)
        if (!state.isOpen && overlap(segment, state)) flaws.push(`${name} crosses ${state.id}`);
    }
    if (label === null && !isBranch) flaws.push(`${name} has no label`);
    if (label === null) continue;
    if (labels.some((other) => overlap(other, label))) flaws.push(`${name} has its label over another`);
    if (states.some((state) => !state.isOpen && overlap(state, label)))
      flaws.push(`${name} has its label over a state`);
    labels.push(label);
  }
  return flaws;
}

const segmentsOf = ({ points }: Pick<DrawnLevel['edges'][number], 'points'>): readonly Box[] =>
  points.slice(1).map(({ x, y }, index) => {
    const before = points[index] ?? { x, y };
    const [width, height] = [Math.abs(before.x - x), Math.abs(before.y - y)];
    return { x: Math.min(before.x, x), y: Math.min(before.y, y), width, height };
  });

/** Whether two parallel segments are on each other. */
const isShared = (one: Box, other: Box): boolean =>
  (['x', 'y'] as const).some((along) => {
    const [across, size] = along === 'x' ? (['y', 'width'] as const) : (['x', 'height'] as const);
    const shared = Math.min(one[along] + one[size], other[along] + other[size]) - Math.max(one[along], other[along]);
    return Math.abs(one[across] - other[across]) < 1 && shared > 1;
  });

const TOLERANCE = 0.6;

function isWithin(box: Box, around: Box): boolean {
  return (
    box.x >= around.x - TOLERANCE &&
    box.y >= around.y - TOLERANCE &&
    box.x + box.width <= around.x + around.width + TOLERANCE &&
    box.y + box.height <= around.y + around.height + TOLERANCE
  );
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.x + one.width > other.x + TOLERANCE &&
    other.x + other.width > one.x + TOLERANCE &&
    one.y + one.height > other.y + TOLERANCE &&
    other.y + other.height > one.y + TOLERANCE
  );
}

function isOnBorder({ x, y }: { readonly x: number; readonly y: number }, box: Box | undefined): boolean {
  if (box === undefined) return false;
  const near = (one: number, other: number): boolean => Math.abs(one - other) <= 1.2;
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const across = x >= box.x - 1.2 && x <= right + 1.2;
  const along = y >= box.y - 1.2 && y <= bottom + 1.2;
  return across && along && (near(x, box.x) || near(x, right) || near(y, box.y) || near(y, bottom));
}
