import type { StateRef } from '../fold/marks.ts';
import { type Box, type Chip, type Drawing, type DrawnEdge, type DrawnState, ownOf } from './drawing.ts';

/** A chart in the picture. One chart can appear several times. */
export interface SceneChart {
  readonly chartId: string;
  /** The state that invokes it; null for the outermost chart. */
  readonly host: number | null;
  /** Its position in the surrounding chart. */
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** Its position in the whole picture. */
  readonly origin: { readonly x: number; readonly y: number };
  readonly fullScale: number;
  readonly states: number[];
  readonly lines: number[];
}

export interface SceneState {
  readonly chart: number;
  readonly drawn: DrawnState;
  /** The enclosing state, which may belong to the surrounding chart. */
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

/** All charts, states and lines of the picture, addressed by index. The outermost chart is the first. */
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
      const index = { x: origin.x + inset.x * scale, y: origin.y + inset.y * scale, scale: scale * inset.scale };
      states[number] = { ...state, inset: add(inner, number, inset, index) };
    }
    return own;
  };

  const drawing = ownOf(drawings, root);
  if (drawing === undefined) return { width: 0, height: 0, charts, states, lines };
  add(drawing, null, { x: 0, y: 0, scale: 1 }, { x: 0, y: 0, scale: 1 });
  return { width: drawing.width, height: drawing.height, charts, states, lines };
}

/** The chart id and state id of a state. */
export function stateRefOf({ charts }: Scene, { chart, drawn }: SceneState): StateRef {
  return { chartId: charts[chart]?.chartId ?? '', stateId: drawn.id };
}

/** Whether a state has children or an inner chart, and so can be collapsed. */
export function hasInside({ inset, children }: SceneState): boolean {
  return inset !== null || children.length > 0;
}

/** What the user selected in the chart. */
export type ChartSelection =
  | ({ readonly kind: 'state' } & StateRef)
  | { readonly kind: 'transitions'; readonly chartId: string; readonly transitions: readonly number[] };

/** The state, or the transitions of the line, at an event target. */
export function selectionAt(scene: Scene, target: EventTarget | null): ChartSelection | null {
  const element = target instanceof Element ? target.closest('[data-state], [data-cover], [data-line]') : null;
  if (element === null) return null;
  const numberOf = (name: string): number => Number(element.getAttribute(`data-${name}`) ?? -1);
  const line = scene.lines[numberOf('line')];
  if (line !== undefined)
    return {
      kind: 'transitions',
      chartId: scene.charts[line.chart]?.chartId ?? '',
      transitions: line.transitions,
    };
  const state = scene.states[Math.max(numberOf('state'), numberOf('cover'))];
  if (state === undefined) return null;
  return { kind: 'state', ...stateRefOf(scene, state) };
}

export function stateSelector(selected: ChartSelection | null): (state: SceneState, chart: SceneChart) => boolean {
  if (selected === null || selected.kind !== 'state') return () => false;
  const { chartId, stateId } = selected;
  return ({ drawn }, chart) => drawn.id === stateId && chart.chartId === chartId;
}

export function lineSelector(selected: ChartSelection | null): (line: SceneLine, chart: SceneChart) => boolean {
  if (selected === null || selected.kind !== 'transitions') return () => false;
  const selectedIds = new Set(selected.transitions);
  return ({ transitions }, { chartId }) =>
    chartId === selected.chartId && transitions.some((one) => selectedIds.has(one));
}

/** The index of the state at an event target. */
export function stateAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest('[data-state], [data-cover]') : null;
  const number = element?.getAttribute('data-state') ?? element?.getAttribute('data-cover') ?? null;
  return number === null ? null : Number(number);
}

/** The position of a selected state or line in the picture. */
interface SelectionLocation {
  readonly box: Box;
  /** The scale of the chart that contains it. */
  readonly fullScale: number;
  /** The number of the surrounding state; null in the top chart. */
  readonly inside: number | null;
}

/** Where a selected state or line is first drawn: the top chart comes before inner charts. */
export function locateSelection(scene: Scene, choice: ChartSelection): SelectionLocation | null {
  const isState = stateSelector(choice);
  const isLine = lineSelector(choice);
  for (const chart of scene.charts) {
    for (const number of chart.states) {
      const state = scene.states[number];
      if (state !== undefined && isState(state, chart))
        return { box: state.box, fullScale: chart.fullScale, inside: state.parent };
    }
    for (const number of chart.lines) {
      const line = scene.lines[number];
      if (line === undefined || !isLine(line, chart)) continue;
      // A line is outside its source state, a chip inside.
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

/** The bounds of a line with its label, or of a chip, in the whole picture. */
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
