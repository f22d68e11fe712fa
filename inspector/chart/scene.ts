import type { Place } from '../fold/marks.ts';
import type { Box, Chip, Drawing, DrawnEdge, DrawnState } from './drawing.ts';
import { ownOf } from './own-of.ts';

/** One drawing of a chart in the picture. The same chart may stand in several places. */
export interface SceneChart {
  readonly chartId: string;
  /** The state that it runs in; null for the chart on top. */
  readonly host: number | null;
  /** Where it stands in the chart around it. */
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** In the whole picture. */
  readonly origin: { readonly x: number; readonly y: number };
  readonly fullScale: number;
  readonly states: number[];
  readonly lines: number[];
}

export interface SceneState {
  readonly chart: number;
  readonly drawn: DrawnState;
  /** The state around it, that of the chart around its own too. */
  readonly parent: number | null;
  readonly children: number[];
  readonly level: number;
  /** In the whole picture. */
  readonly box: Box;
  readonly inset: number | null;
}

/** An edge or a chip. */
export interface SceneLine {
  readonly chart: number;
  readonly source: number | null;
  readonly target: number | null;
  readonly edge: DrawnEdge | null;
  readonly chip: Chip | null;
  readonly transitions: readonly number[];
}

/** Everything in the picture by number: charts, states and lines. The chart on top is the first. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly charts: readonly SceneChart[];
  readonly states: readonly SceneState[];
  readonly lines: readonly SceneLine[];
}

interface Frame {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export function sceneOf(drawings: Readonly<Record<string, Drawing>>, root: string): Scene {
  const charts: SceneChart[] = [];
  const states: SceneState[] = [];
  const lines: SceneLine[] = [];

  const add = (drawing: Drawing, host: number | null, at: Frame, origin: Frame): number => {
    const own = charts.length;
    const chart: SceneChart = {
      chartId: drawing.chartId,
      host,
      x: at.x,
      y: at.y,
      scale: at.scale,
      origin: { x: origin.x, y: origin.y },
      fullScale: origin.scale,
      states: [],
      lines: [],
    };
    charts.push(chart);
    const { scale } = origin;
    const numbers = new Map<string, number>();
    for (const drawn of drawing.states) {
      const number = states.length;
      const parent = (drawn.parent === null ? undefined : numbers.get(drawn.parent)) ?? host;
      const inner = drawn.inset === null ? undefined : ownOf(drawings, drawn.inset.chartId);
      states.push({
        chart: own,
        drawn,
        parent,
        children: [],
        level: parent === null ? 1 : (states[parent]?.level ?? 0) + 1,
        box: {
          x: origin.x + drawn.x * scale,
          y: origin.y + drawn.y * scale,
          width: drawn.width * scale,
          height: drawn.height * scale,
        },
        inset: inner === undefined ? null : 0,
      });
      numbers.set(drawn.id, number);
      chart.states.push(number);
      if (parent !== null) states[parent]?.children.push(number);
    }
    const addLine = (edge: DrawnEdge | null, chip: Chip | null, source: number | null): void => {
      const { target, transitions } = (edge ?? chip) as DrawnEdge | Chip;
      chart.lines.push(lines.length);
      lines.push({ chart: own, source, target: numbers.get(target) ?? null, edge, chip, transitions });
    };
    for (const edge of drawing.edges) addLine(edge, null, numbers.get(edge.source) ?? null);
    for (const chip of drawing.chips) addLine(null, chip, host);
    for (const { id, chips } of drawing.states) for (const chip of chips) addLine(null, chip, numbers.get(id) ?? null);
    for (const number of [...chart.states]) {
      const state = states[number] as SceneState;
      const { inset } = state.drawn;
      const inner = inset === null ? undefined : ownOf(drawings, inset.chartId);
      if (inset === null || inner === undefined) continue;
      const place = { x: origin.x + inset.x * scale, y: origin.y + inset.y * scale, scale: scale * inset.scale };
      states[number] = { ...state, inset: add(inner, number, inset, place) };
    }
    return own;
  };

  const drawing = ownOf(drawings, root);
  if (drawing === undefined) return { width: 0, height: 0, charts, states, lines };
  add(drawing, null, { x: 0, y: 0, scale: 1 }, { x: 0, y: 0, scale: 1 });
  return { width: drawing.width, height: drawing.height, charts, states, lines };
}

/** The state by its names. */
export function placeOf({ charts }: Scene, { chart, drawn }: SceneState): Place {
  return { chartId: charts[chart]?.chartId ?? '', stateId: drawn.id };
}

/** Whether there is something in a state that can be closed. */
export function hasInside({ inset, children }: SceneState): boolean {
  return inset !== null || children.length > 0;
}
