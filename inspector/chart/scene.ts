import { copyKey, type StateRef } from '../fold/chart-copies.ts';
import type { ChartSelection } from '../fold/selection.ts';
import type { Viewport } from './camera.ts';
import { type Box, type Drawing, type DrawnEdge, type DrawnLevel, type DrawnState, ownOf } from './drawing.ts';

/** A level in the picture: a whole chart, or the inside of a state. One level can appear several times. */
export interface SceneChart {
  readonly chartId: string;
  /** The key of its marks: the chart, and for an invoked chart the state that invokes it. */
  readonly copy: string;
  /** The state around it; null for the outermost level. */
  readonly host: number | null;
  readonly drawn: DrawnLevel;
  /** Its position in the surrounding level. */
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

export interface SceneLine {
  readonly chart: number;
  readonly source: number | null;
  readonly target: number | null;
  readonly edge: DrawnEdge;
}

/** All levels, states and lines of the picture, addressed by index. The outermost level is the first. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly charts: readonly SceneChart[];
  readonly states: readonly SceneState[];
  readonly lines: readonly SceneLine[];
}

/** The height of the line of text below a chart. */
const CAPTION = 20;

export function sceneOf(drawings: Readonly<Record<string, Drawing>>, root: string): Scene {
  const charts: SceneChart[] = [];
  const states: SceneState[] = [];
  const lines: SceneLine[] = [];
  const levelOf = (chartId: string, level: string): DrawnLevel | undefined =>
    ownOf(ownOf(drawings, chartId)?.levels ?? {}, level);

  const add = (
    { chartId, copy, drawn }: Pick<SceneChart, 'chartId' | 'copy' | 'drawn'>,
    host: number | null,
    at: Viewport,
    origin: Viewport,
  ): number => {
    const own = charts.length;
    const { x, y, scale: fullScale } = origin;
    const chart = {
      ...at,
      chartId,
      copy,
      drawn,
      host,
      origin: { x, y },
      fullScale,
      states: [],
      lines: [],
    } as SceneChart;
    charts.push(chart);
    const numbers = new Map<string, number>();
    for (const state of drawn.states) {
      const number = states.length;
      const parent = (state.parent === null ? undefined : numbers.get(state.parent)) ?? host;
      const box = { width: state.width * fullScale, height: state.height * fullScale };
      states.push({
        chart: own,
        drawn: state,
        parent,
        children: [],
        level: parent === null ? 1 : (states[parent]?.level ?? 0) + 1,
        box: { x: x + state.x * fullScale, y: y + state.y * fullScale, ...box },
        inset: null,
      });
      numbers.set(state.id, number);
      chart.states.push(number);
      if (parent !== null) states[parent]?.children.push(number);
    }
    for (const edge of drawn.edges) {
      const numberOf = (id: string | null): number | null => (id === null ? null : (numbers.get(id) ?? null));
      chart.lines.push(lines.length);
      lines.push({ chart: own, source: numberOf(edge.source), target: numberOf(edge.target), edge });
    }
    for (const number of [...chart.states]) {
      const state = states[number] as SceneState;
      const { inset } = state.drawn;
      const inner = inset === null ? undefined : levelOf(inset.chartId, inset.level);
      if (inset === null || inner === undefined) continue;
      const isInvoked = inset.chartId !== chartId || inset.level === chartId;
      const inside = {
        chartId: inset.chartId,
        copy: isInvoked ? copyKey(inset.chartId, { chartId, stateId: state.drawn.id }) : copy,
        drawn: inner,
      };
      const place = { x: x + inset.x * fullScale, y: y + inset.y * fullScale, scale: fullScale * inset.scale };
      states[number] = { ...state, inset: add(inside, number, inset, place) };
    }
    return own;
  };

  const drawn = levelOf(root, root);
  if (drawn === undefined) return { width: 0, height: 0, charts, states, lines };
  const whole = { x: 0, y: 0, scale: 1 };
  add({ chartId: root, copy: root, drawn }, null, whole, whole);
  // Below the chart are the events that it handles without a transition.
  const hasCaption = drawn.edges.some(
    ({ source, target, points }) => points.length === 0 && source === root && target === root,
  );
  return { width: drawn.width, height: drawn.height + (hasCaption ? CAPTION : 0), charts, states, lines };
}

export function stateRefOf({ charts }: Scene, { chart, drawn }: SceneState): StateRef {
  return { chartId: charts[chart]?.chartId ?? '', stateId: drawn.id };
}

export function hasInside({ inset, children }: SceneState): boolean {
  return inset !== null || children.length > 0;
}

/** The state, or the transitions of the line, at an event target. */
export function selectionAt(scene: Scene, target: EventTarget | null): ChartSelection | null {
  const element = target instanceof Element ? target.closest('[data-state], [data-line], [data-label]') : null;
  if (element === null) return null;
  const line = scene.lines[Number(element.getAttribute('data-line') ?? element.getAttribute('data-label') ?? -1)];
  if (line !== undefined)
    return {
      kind: 'transitions',
      chartId: scene.charts[line.chart]?.chartId ?? '',
      transitions: line.edge.transitions,
    };
  const state = scene.states[Number(element.getAttribute('data-state') ?? -1)];
  return state === undefined ? null : { kind: 'state', ...stateRefOf(scene, state) };
}

export function stateSelector(selected: ChartSelection | null): (state: SceneState, chart: SceneChart) => boolean {
  if (selected === null || selected.kind !== 'state') return () => false;
  const { chartId, stateId } = selected;
  return ({ drawn }, chart) => drawn.id === stateId && chart.chartId === chartId;
}

export function lineSelector(selected: ChartSelection | null): (line: SceneLine, chart: SceneChart) => boolean {
  if (selected === null || selected.kind !== 'transitions') return () => false;
  const selectedIds = new Set(selected.transitions);
  return ({ edge }, { chartId }) =>
    chartId === selected.chartId && edge.transitions.some((one) => selectedIds.has(one));
}

interface SelectionLocation {
  readonly box: Box;
  /** The scale of the level that contains it. */
  readonly fullScale: number;
}

/**
 * Where a selected state or line is first drawn: outer levels come before inner ones. A line without a drawing is at its source, or at its
 * target if any state is its source.
 */
export function locateSelection(scene: Scene, choice: ChartSelection): SelectionLocation | null {
  const isState = stateSelector(choice);
  const isLine = lineSelector(choice);
  for (const chart of scene.charts) {
    const { fullScale } = chart;
    for (const number of chart.states) {
      const state = scene.states[number];
      if (state !== undefined && isState(state, chart)) return { box: state.box, fullScale };
    }
    for (const number of chart.lines) {
      const line = scene.lines[number];
      if (line === undefined || !isLine(line, chart)) continue;
      const end = scene.states[line.source ?? line.target ?? -1];
      if (line.edge.points.length > 0) return { box: lineBox(chart, line.edge), fullScale };
      if (end !== undefined) return { box: end.box, fullScale };
      return { box: { x: 0, y: scene.height - CAPTION, width: 1, height: CAPTION }, fullScale };
    }
  }
  return null;
}

function lineBox({ origin, fullScale }: SceneChart, { points, label }: DrawnEdge): Box {
  const boxes = [...points.map(({ x, y }) => ({ x, y, width: 0, height: 0 })), ...(label === null ? [] : [label])];
  const [left, top] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))];
  return {
    x: origin.x + left * fullScale,
    y: origin.y + top * fullScale,
    width: (Math.max(...boxes.map(({ x, width }) => x + width)) - left) * fullScale,
    height: (Math.max(...boxes.map(({ y, height }) => y + height)) - top) * fullScale,
  };
}
