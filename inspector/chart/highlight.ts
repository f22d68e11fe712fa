import type { Marks, StateRef } from '../fold/marks.ts';
import { excerpt } from '../fold/text.ts';
import { type Box, ownOf } from './drawing.ts';
import {
  hasInside,
  lineBox,
  type Scene,
  type SceneChart,
  type SceneLine,
  type SceneState,
  stateRefOf,
} from './scene.ts';

/** Everything that can change in the picture without a new render. */
export interface HighlightInput {
  readonly marks: Marks;
  readonly overlay: Overlay | null;
  readonly neverTaken: ReadonlySet<string>;
  /** The collapsed states, by number. */
  readonly collapsed: ReadonlySet<number>;
  readonly isSelected: (state: SceneState, chart: SceneChart) => boolean;
  readonly isSelectedLine: (line: SceneLine, chart: SceneChart) => boolean;
}

/** The classes of all states and lines, by number, and the active leaf states. */
export interface Highlight {
  readonly states: readonly string[];
  readonly lines: readonly string[];
  readonly leaves: readonly number[];
  readonly active: ReadonlySet<number>;
  readonly lastLine: number | null;
}

function highlightOf(scene: Scene, input: HighlightInput): Highlight {
  const { marks, collapsed } = input;
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
    const heat = heatOf(heatMark(input.overlay, stateRefOf(scene, state)));
    const isLeafOfChart =
      active.has(number) &&
      !state.children.some((child) => active.has(child) && scene.states[child]?.chart === state.chart);
    return classes({
      active: active.has(number),
      leaf: isLeafOfChart,
      collapsed: collapsed.has(number),
      hidden: hidden.has(number),
      'last-target': number === last.target,
      selected: input.isSelected(state, chart),
      heated: heat > 0,
      cold: input.overlay !== null && heat === 0,
    });
  });
  const lines = scene.lines.map((line, number) => {
    const chart = scene.charts[line.chart] as SceneChart;
    const taken = live.has(line.chart) ? ownOf(marks.taken, chart.chartId) : undefined;
    const isInside = (end: number | null): boolean => end !== null && hidden.has(end);
    const isCollapsed = line.chip !== null && line.source !== null && collapsed.has(line.source);
    const isTaken = taken !== undefined && line.transitions.some((transition) => taken.has(transition));
    const isNever = (transition: number): boolean => input.neverTaken.has(transitionKey(chart.chartId, transition));
    const isMarked = input.neverTaken.size > 0;
    return classes({
      taken: isTaken,
      last: number === last.line,
      never: isMarked && line.transitions.every(isNever),
      partly: isMarked && isTaken && line.transitions.some(isNever),
      hidden:
        isCollapsed || (line.chip === null ? isInside(line.source) && isInside(line.target) : isInside(line.source)),
      selected: input.isSelectedLine(line, chart),
    });
  });
  return { states, lines, leaves, active, lastLine: last.line };
}

/** The running charts, by number: the outermost one, and inner charts in the states that `marks.where` names. */
function liveCharts(scene: Scene, { where, isSum = false }: Marks): ReadonlySet<number> {
  if (isSum) return new Set(scene.charts.keys());
  const live = new Set<number>();
  for (const [number, { chartId, host }] of scene.charts.entries()) {
    if (host === null) {
      live.add(number);
      continue;
    }
    const { chart, drawn } = scene.states[host] as SceneState;
    const index = ownOf(where, chartId);
    if (live.has(chart) && index?.chartId === scene.charts[chart]?.chartId && index?.stateId === drawn.id)
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
  // A transition with several targets has a line to each.
  const line = candidates.find((number) => scene.lines[number]?.target === target) ?? candidates[0] ?? null;
  return { line, target };
}

function activeIn({ active }: Marks, chart: SceneChart | undefined): ReadonlySet<string> | undefined {
  return chart === undefined ? undefined : ownOf(active, chart.chartId);
}

/** In steps of a tenth, from 0 to 1. */
function heatOf(mark: HeatMark | null): number {
  const heat = mark?.heat ?? 0;
  return Math.round(Math.min(1, Math.max(0, Number.isFinite(heat) ? heat : 0)) * 10) / 10;
}

function classes(which: Readonly<Record<string, boolean>>): string {
  let list = '';
  for (const name in which) if (which[name] === true) list += ` ${name}`;
  return list;
}

/** A state's overlay: its heat, from 0 to 1, and the text to show. */
export interface HeatMark {
  readonly heat: number;
  readonly text: string;
  /** The state's status for screen readers; by default, whether it is active. */
  readonly words?: string;
}

/** By chart id, then by state id. */
export type Overlay = Readonly<Record<string, ReadonlyMap<string, HeatMark>>>;

export function heatMark(overlay: Overlay | null, { chartId, stateId }: StateRef): HeatMark | null {
  return overlay === null ? null : (ownOf(overlay, chartId)?.get(stateId) ?? null);
}

/** The key of a transition in `neverTaken`; `transition` is its index in the chart. */
export function transitionKey(chartId: string, transition: number): string {
  return `${chartId} ${transition}`;
}

/** Updates classes and labels of drawn elements, only if they changed. */
interface Painter {
  readonly paint: (input: HighlightInput) => Highlight;
  readonly stateAt: (number: number) => SVGElement | null;
}

export function createPainter(svg: SVGSVGElement, scene: Scene): Painter {
  const byNumber = (name: string): readonly (SVGElement | null)[] => {
    const found: (SVGElement | null)[] = [];
    for (const element of svg.querySelectorAll<SVGElement>(`[data-${name}]`))
      found[Number(element.getAttribute(`data-${name}`))] = element;
    return found;
  };
  const states = byNumber('state');
  const covers = byNumber('cover');
  const lines = byNumber('line');
  const jump = svg.querySelector<SVGPathElement>('.jump');
  const baseClasses = scene.states.map(({ drawn }) => `state ${drawn.type}`);
  const lineBaseClasses = scene.lines.map(({ edge }) =>
    edge === null ? 'chip' : edge.dashed ? 'edge outside' : 'edge',
  );
  const set = (element: Element | null | undefined, name: string, value: string | null): void => {
    if (element == null || element.getAttribute(name) === value) return;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  };
  let before: readonly string[] = [];
  let beforeLines: readonly string[] = [];

  const paint = (input: HighlightInput): Highlight => {
    const highlight = highlightOf(scene, input);
    for (const [number, state] of scene.states.entries()) {
      const classes = highlight.states[number] ?? '';
      const element = states[number];
      set(element, 'aria-current', highlight.leaves.includes(number) ? 'step' : null);
      const mark = heatMark(input.overlay, stateRefOf(scene, state));
      if (input.overlay !== null || element?.lastElementChild?.textContent !== '') paintHeat(element, mark);
      if (mark?.words !== undefined || classes !== before[number])
        set(
          element,
          'aria-label',
          labelOf(state, mark?.words ?? (highlight.active.has(number) ? 'active' : 'not active')),
        );
      if (classes === before[number]) continue;
      set(element, 'class', baseClasses[number] + classes);
      set(covers[number], 'class', `cover${classes}`);
      set(element, 'aria-selected', String(classes.includes(' selected')));
      if (hasInside(state)) set(element, 'aria-expanded', String(!input.collapsed.has(number)));
    }
    for (const [number, classes] of highlight.lines.entries())
      if (classes !== beforeLines[number]) set(lines[number], 'class', lineBaseClasses[number] + classes);
    set(jump, 'd', jumpPath(scene, highlight));
    before = highlight.states;
    beforeLines = highlight.lines;
    return highlight;
  };
  return { paint, stateAt: (number) => states[number] ?? null };
}

function paintHeat(element: SVGElement | null | undefined, mark: HeatMark | null): void {
  const text = excerpt(mark?.text ?? '', 18);
  const label = element?.lastElementChild;
  if (label != null && label.textContent !== text) label.textContent = text;
  const heat = String(heatOf(mark));
  if (element?.style.getPropertyValue('--heat') !== heat) element?.style.setProperty('--heat', heat);
}

/** Visible text comes first, in reading order. */
function labelOf({ drawn }: SceneState, status: string): string {
  const note = drawn.note === '' ? '' : `, ${drawn.note}`;
  const kind = drawn.type === 'atomic' || drawn.type === 'compound' ? '' : `, ${drawn.type}`;
  const description = drawn.description === '' ? '' : `: ${excerpt(drawn.description, 300)}`;
  return `${excerpt(drawn.name, 80)}${note}, ${status}${kind}${description}`;
}

/** An arc from the chip of the latest transition to its target state. */
function jumpPath(scene: Scene, { lastLine }: Highlight): string {
  const line = lastLine === null ? undefined : scene.lines[lastLine];
  const target = line?.target == null ? undefined : scene.states[line.target];
  if (line === undefined || line.chip === null || target === undefined || line.source === line.target) return '';
  const from = lineBox(scene, line);
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = nearest(target.box, start);
  const [across, down] = [end.x - start.x, end.y - start.y];
  const middle = { x: start.x + across / 2 - down * 0.16, y: start.y + down / 2 - Math.abs(across) * 0.16 };
  const angle = Math.atan2(end.y - middle.y, end.x - middle.x);
  const wing = (delta: number): string =>
    `L${round(end.x - 20 * Math.cos(angle + delta))} ${round(end.y - 20 * Math.sin(angle + delta))}`;
  const tip = `M${round(end.x)} ${round(end.y)}`;
  return `M${round(start.x)} ${round(start.y)}Q${round(middle.x)} ${round(middle.y)} ${round(end.x)} ${round(end.y)}${tip}${wing(0.45)}${tip}${wing(-0.45)}`;
}

function nearest({ x, y, width, height }: Box, from: { readonly x: number; readonly y: number }) {
  if (from.y > y + height) return { x: x + width / 2, y: y + height };
  if (from.y < y) return { x: x + width / 2, y };
  return { x: from.x < x ? x : x + width, y: y + height / 2 };
}

const round = (length: number): number => Math.round(length * 10) / 10;
