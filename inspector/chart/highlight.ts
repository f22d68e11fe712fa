import type { Marks } from '../fold/marks.ts';
import { type HeatMark, heatMark, type Overlay, transitionKey } from './overlay.ts';
import { ownOf } from './own-of.ts';
import { placeOf, type Scene, type SceneChart, type SceneLine, type SceneState } from './scene.ts';

/** Everything that changes in the picture without its being drawn anew. */
export interface Lighting {
  readonly marks: Marks;
  readonly overlay: Overlay | null;
  readonly neverTaken: ReadonlySet<string>;
  /** The states that are closed, by number. */
  readonly collapsed: ReadonlySet<number>;
  readonly isChosen: (state: SceneState, chart: SceneChart) => boolean;
  readonly isChosenLine: (line: SceneLine, chart: SceneChart) => boolean;
}

/** The classes of all states and lines, by number; and the states that the run is in, the innermost of each branch only. */
export interface Highlight {
  readonly states: readonly string[];
  readonly lines: readonly string[];
  readonly leaves: readonly number[];
  readonly active: ReadonlySet<number>;
  readonly lastLine: number | null;
}

export function highlightOf(scene: Scene, lighting: Lighting): Highlight {
  const { marks, collapsed } = lighting;
  const live = liveCharts(scene, marks);
  const active = new Set<number>();
  for (const [number, { chart, drawn }] of scene.states.entries())
    if (live.has(chart) && activeIn(marks, scene.charts[chart])?.has(drawn.id) === true) active.add(number);
  const leaves = [...active].filter((number) => !scene.states[number]?.children.some((child) => active.has(child)));
  const hidden = new Set<number>();
  for (const [number, { parent }] of scene.states.entries())
    if (parent !== null && (collapsed.has(parent) || hidden.has(parent))) hidden.add(number);
  const last = lastOf(scene, marks, live);
  const states = scene.states.map((state, number) => {
    const chart = scene.charts[state.chart] as SceneChart;
    const isLeafOfChart =
      active.has(number) &&
      !state.children.some((child) => active.has(child) && scene.states[child]?.chart === state.chart);
    return classes({
      active: active.has(number),
      leaf: isLeafOfChart,
      collapsed: collapsed.has(number),
      hidden: hidden.has(number),
      'last-target': number === last.target,
      chosen: lighting.isChosen(state, chart),
      [`heat-${tenthsOf(heatMark(lighting.overlay, placeOf(scene, state)))}`]: lighting.overlay !== null,
    });
  });
  const lines = scene.lines.map((line, number) => {
    const chart = scene.charts[line.chart] as SceneChart;
    const taken = live.has(line.chart) ? ownOf(marks.taken, chart.chartId) : undefined;
    const isInside = (end: number | null): boolean => end !== null && hidden.has(end);
    const isShut = line.chip !== null && line.source !== null && collapsed.has(line.source);
    const isTaken = taken !== undefined && line.transitions.some((transition) => taken.has(transition));
    const isNever = (transition: number): boolean => lighting.neverTaken.has(transitionKey(chart.chartId, transition));
    const isMarked = lighting.neverTaken.size > 0;
    return classes({
      taken: isTaken,
      last: number === last.line,
      never: isMarked && line.transitions.every(isNever),
      partly: isMarked && isTaken && line.transitions.some(isNever),
      hidden: isShut || (line.chip === null ? isInside(line.source) && isInside(line.target) : isInside(line.source)),
      chosen: lighting.isChosenLine(line, chart),
    });
  });
  return { states, lines, leaves, active, lastLine: last.line };
}

/** The charts that run, by number: the one on top, and those in states that the marks name; of whole runs, all. */
function liveCharts(scene: Scene, { where, isSum = false }: Marks): ReadonlySet<number> {
  if (isSum) return new Set(scene.charts.keys());
  const live = new Set<number>();
  for (const [number, { chartId, host }] of scene.charts.entries()) {
    if (host === null) {
      live.add(number);
      continue;
    }
    const { chart, drawn } = scene.states[host] as SceneState;
    const place = ownOf(where, chartId);
    if (live.has(chart) && place?.chartId === scene.charts[chart]?.chartId && place?.stateId === drawn.id)
      live.add(number);
  }
  return live;
}

function lastOf(scene: Scene, { last }: Marks, live: ReadonlySet<number>) {
  const none = { line: null, target: null };
  if (last === null) return none;
  const chart = scene.charts.findIndex(({ chartId }, number) => live.has(number) && chartId === last.chartId);
  const own = scene.charts[chart];
  if (own === undefined) return none;
  const numberOf = (id: string): number | null =>
    own.states.find((number) => scene.states[number]?.drawn.id === id) ?? null;
  const { transition } = last;
  const [source, target] = [numberOf(last.source), numberOf(last.target)];
  const candidates = own.lines.filter((number) => {
    const line = scene.lines[number];
    return transition !== null
      ? line?.transitions.includes(transition) === true
      : line?.target === target && line?.source === (source ?? own.host);
  });
  // A transition of several targets has a line to each.
  const line = candidates.find((number) => scene.lines[number]?.target === target) ?? candidates[0] ?? null;
  return { line, target };
}

function activeIn({ active }: Marks, chart: SceneChart | undefined): ReadonlySet<string> | undefined {
  return chart === undefined ? undefined : ownOf(active, chart.chartId);
}

function tenthsOf(mark: HeatMark | null): number {
  const heat = mark?.heat ?? 0;
  return Math.round(Math.min(1, Math.max(0, Number.isFinite(heat) ? heat : 0)) * 10);
}

function classes(which: Readonly<Record<string, boolean>>): string {
  let list = '';
  for (const name in which) if (which[name] === true) list += ` ${name}`;
  return list;
}
