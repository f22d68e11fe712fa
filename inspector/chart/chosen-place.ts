import { type Choice, isChosenLine, isChosenState } from './choices.ts';
import type { Box } from './drawing.ts';
import type { Scene, SceneLine } from './scene.ts';

/** Where a choice stands in the picture. */
export interface ChosenPlace {
  readonly box: Box;
  /** Of the chart that it stands in. */
  readonly fullScale: number;
  /** The state that it stands in, by number; null where that is the chart on top. */
  readonly inside: number | null;
}

/** The first place where a choice is drawn: the chart on top comes before those inside its states. */
export function chosenPlace(scene: Scene, choice: Choice): ChosenPlace | null {
  const isState = isChosenState(choice);
  const isLine = isChosenLine(choice);
  for (const chart of scene.charts) {
    for (const number of chart.states) {
      const state = scene.states[number];
      if (state !== undefined && isState(state, chart))
        return { box: state.box, fullScale: chart.fullScale, inside: state.parent };
    }
    for (const number of chart.lines) {
      const line = scene.lines[number];
      if (line === undefined || !isLine(line, chart)) continue;
      // A line stands beside its source, a chip in it.
      const around = line.source === null ? null : (scene.states[line.source]?.parent ?? null);
      return {
        box: lineBox(scene, line),
        fullScale: chart.fullScale,
        inside: line.chip === null ? around : line.source,
      };
    }
  }
  return null;
}

/** All of a line with its label, or a chip, in the whole picture. */
export function lineBox(scene: Scene, { chart, edge, chip }: SceneLine): Box {
  const boxes: readonly Box[] = [
    ...(chip === null ? [] : [chip]),
    ...(edge?.points ?? []).map(({ x, y }) => ({ x, y, width: 0, height: 0 })),
    ...(edge?.label == null ? [] : [edge.label]),
  ];
  const { origin, fullScale } = scene.charts[chart] ?? { origin: { x: 0, y: 0 }, fullScale: 1 };
  const [left, top] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))];
  return {
    x: origin.x + left * fullScale,
    y: origin.y + top * fullScale,
    width: (Math.max(...boxes.map(({ x, width }) => x + width)) - left) * fullScale,
    height: (Math.max(...boxes.map(({ y, height }) => y + height)) - top) * fullScale,
  };
}
