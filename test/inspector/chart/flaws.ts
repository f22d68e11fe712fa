import type { Box, Drawing } from '../../../inspector/chart/drawing.ts';
import type { Chart } from '../../../src/engine/charts/chart.ts';

/** Everything that is wrong with the drawing of a chart that is sound; a sentence each. */
export function flawsOf(chart: Chart, drawing: Drawing): readonly string[] {
  return [...flawsOfStates(chart, drawing), ...flawsOfLines(chart, drawing), ...flawsOfChips(drawing)];
}

function flawsOfStates(chart: Chart, { states, width, height }: Drawing): readonly string[] {
  const flaws: string[] = [];
  const boxes = new Map(states.map((state) => [state.id, state]));
  const wanted = chart.states.filter(({ id }) => id !== chart.id).map(({ id }) => id);
  if (
    [...wanted].sort().join() !==
    states
      .map(({ id }) => id)
      .sort()
      .join()
  )
    flaws.push('not every state once');
  const whole = { x: 0, y: 0, width, height };
  for (const state of states) {
    const around = boxes.get(state.parent ?? '') ?? whole;
    if (!isWithin(state, around)) flaws.push(`${state.id} is not in its parent`);
    for (const other of states)
      if (other.parent === state.parent && other.id < state.id && overlap(other, state))
        flaws.push(`${state.id} and ${other.id} overlap`);
  }
  return flaws;
}

function flawsOfLines(chart: Chart, { states, edges, chips }: Drawing): readonly string[] {
  const flaws: string[] = [];
  const boxes = new Map(states.map((state) => [state.id, state]));
  for (const { source, target, points } of edges) {
    const [first, last] = [points[0], points.at(-1)];
    if (points.length < 2 || first === undefined || last === undefined) flaws.push(`${source} → ${target} has no way`);
    else if (!isOnBorder(first, boxes.get(source))) flaws.push(`${source} → ${target} begins off its border`);
    else if (!isOnBorder(last, boxes.get(target))) flaws.push(`${source} → ${target} ends off its border`);
    for (const [index, { x, y }] of points.slice(1).entries()) {
      const before = points[index];
      if (before !== undefined && Math.abs(before.x - x) > 0.5 && Math.abs(before.y - y) > 0.5)
        flaws.push(`${source} → ${target} runs aslant`);
    }
  }
  const lines = [...edges, ...chips, ...states.flatMap((state) => state.chips)];
  for (const [index, { source, target }] of chart.transitions.entries()) {
    const shown = lines.filter(({ transitions }) => transitions.includes(index)).map((line) => line.target);
    const wanted = target.length === 0 ? [source] : [...new Set(target)];
    if (shown.sort().join() !== [...wanted].sort().join())
      flaws.push(`transition ${index} of ${source} leads to ${wanted.join()}, and is shown to ${shown.join()}`);
  }
  return flaws;
}

function flawsOfChips({ states, chips, width, height }: Drawing): readonly string[] {
  const all = [{ id: 'root', x: 0, y: 0, width, height, chips }, ...states];
  return all.flatMap((state) => [
    ...state.chips
      .filter((chip) => !isWithin(chip, state))
      .map(({ target }) => `a chip to ${target} is out of ${state.id}`),
    ...state.chips.flatMap((chip, index) =>
      state.chips.slice(index + 1).flatMap((other) => (overlap(chip, other) ? [`chips overlap in ${state.id}`] : [])),
    ),
  ]);
}

const SLACK = 0.6;

function isWithin(box: Box, around: Box): boolean {
  return (
    box.x >= around.x - SLACK &&
    box.y >= around.y - SLACK &&
    box.x + box.width <= around.x + around.width + SLACK &&
    box.y + box.height <= around.y + around.height + SLACK
  );
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.x + one.width > other.x + SLACK &&
    other.x + other.width > one.x + SLACK &&
    one.y + one.height > other.y + SLACK &&
    other.y + other.height > one.y + SLACK
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
