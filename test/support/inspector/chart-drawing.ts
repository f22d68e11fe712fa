import type { Box, Drawing } from '../../../inspector/chart/drawing.ts';
import type { Chart } from '../../../src/engine/charts/chart.ts';

/** Returns the flaws in the drawing of a valid chart, one sentence each. */
export function drawingFlaws(chart: Chart, drawing: Drawing): readonly string[] {
  return [...stateFlaws(chart, drawing), ...lineFlaws(chart, drawing), ...chipFlaws(drawing)];
}

function stateFlaws(chart: Chart, { states, width, height }: Drawing): readonly string[] {
  const flaws: string[] = [];
  const boxes = new Map(states.map((state) => [state.id, state]));
  const expected = chart.states.filter(({ id }) => id !== chart.id).map(({ id }) => id);
  if (
    [...expected].sort().join() !==
    states
      .map(({ id }) => id)
      .sort()
      .join()
  )
    flaws.push('a state is missing or drawn twice');
  const whole = { x: 0, y: 0, width, height };
  for (const state of states) {
    const around = boxes.get(state.parent ?? '') ?? whole;
    if (!isWithin(state, around)) flaws.push(`${state.id} is outside its parent`);
    for (const other of states)
      if (other.parent === state.parent && other.id < state.id && overlap(other, state))
        flaws.push(`${state.id} and ${other.id} overlap`);
  }
  return flaws;
}

function lineFlaws(chart: Chart, { states, edges, chips }: Drawing): readonly string[] {
  const flaws: string[] = [];
  const boxes = new Map(states.map((state) => [state.id, state]));
  for (const { source, target, points } of edges) {
    const [first, last] = [points[0], points.at(-1)];
    if (points.length < 2 || first === undefined || last === undefined) flaws.push(`${source} → ${target} has no path`);
    else if (!isOnBorder(first, boxes.get(source)))
      flaws.push(`${source} → ${target} does not start on the border of its source`);
    else if (!isOnBorder(last, boxes.get(target)))
      flaws.push(`${source} → ${target} does not end on the border of its target`);
    for (const [index, { x, y }] of points.slice(1).entries()) {
      const before = points[index];
      if (before !== undefined && Math.abs(before.x - x) > 0.5 && Math.abs(before.y - y) > 0.5)
        flaws.push(`${source} → ${target} has a diagonal segment`);
    }
  }
  const lines = [...edges, ...chips, ...states.flatMap((state) => state.chips)];
  for (const [index, { source, target }] of chart.transitions.entries()) {
    const shown = lines.filter(({ transitions }) => transitions.includes(index)).map((line) => line.target);
    const expected = target.length === 0 ? [source] : [...new Set(target)];
    if (shown.sort().join() !== [...expected].sort().join())
      flaws.push(`transition ${index} of ${source} leads to ${expected.join()}, but is drawn to ${shown.join()}`);
  }
  return flaws;
}

function chipFlaws({ states, chips, width, height }: Drawing): readonly string[] {
  const all = [{ id: 'root', x: 0, y: 0, width, height, chips }, ...states];
  return all.flatMap((state) => [
    ...state.chips
      .filter((chip) => !isWithin(chip, state))
      .map(({ target }) => `a chip to ${target} is outside ${state.id}`),
    ...state.chips.flatMap((chip, index) =>
      state.chips.slice(index + 1).flatMap((other) => (overlap(chip, other) ? [`chips overlap in ${state.id}`] : [])),
    ),
  ]);
}

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
