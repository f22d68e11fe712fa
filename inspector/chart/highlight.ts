import type { StateRef } from '../fold/chart-copies.ts';
import { formatNumber } from '../fold/format.ts';
import { groupBy } from '../fold/group-by.ts';
import type { HeatMark, Marks, Overlay } from '../fold/marks.ts';
import { excerpt } from '../fold/text.ts';
import { labelClass, lineClass, lineText, stateClass } from './chart-shapes.tsx';
import { ownOf } from './drawing.ts';
import { BADGE_LENGTH, labelParts, labelText } from './label-text.ts';
import { type Scene, type SceneChart, type SceneLine, type SceneState, stateRefOf } from './scene.ts';

const countText = (times: number): string => (times > 99 ? '×99+' : `×${times}`);

export interface HighlightInput {
  readonly marks: Marks;
  readonly overlay: Overlay | null;
  /** The number of calls and retries by state; shown if there is no overlay. */
  readonly badges: Overlay | null;
  readonly neverTaken: ReadonlySet<string>;
  readonly isSelected: (state: SceneState, chart: SceneChart) => boolean;
  readonly isSelectedLine: (line: SceneLine, chart: SceneChart) => boolean;
}

/** The classes of all states and lines, by number, and the active leaf states. */
export interface Highlight {
  readonly states: readonly string[];
  readonly lines: readonly string[];
  /** How often each line was taken, as shown (empty if never) and in words, and its width in pixels. */
  readonly counts: readonly { readonly text: string; readonly words: string; readonly width: number }[];
  readonly leaves: readonly number[];
  readonly active: ReadonlySet<number>;
}

function highlightOf(scene: Scene, input: HighlightInput): Highlight {
  const { marks } = input;
  const live = liveCharts(scene, marks);
  const active = new Set<number>();
  for (const [number, { chart, drawn }] of scene.states.entries())
    if (live.has(chart) && ownOf(marks.active, scene.charts[chart]?.chartId ?? '')?.has(drawn.id) === true)
      active.add(number);
  const leaves = [...active].filter((number) => !scene.states[number]?.children.some((child) => active.has(child)));
  const selected = new Set([
    ...[...scene.states.keys()].filter((number) => isAt(scene, number, input.isSelected)),
    // A transition without a line is shown by its state.
    ...scene.lines.flatMap((line) =>
      line.edge.points.length === 0 &&
      line.target !== null &&
      // From itself, or from any state.
      (line.source === line.target || line.source === null) &&
      input.isSelectedLine(line, scene.charts[line.chart] as SceneChart)
        ? [line.target]
        : [],
    ),
  ]);
  const times = scene.lines.map(({ chart, edge }) => {
    const taken = takenIn(marks, scene.charts[chart] as SceneChart);
    return edge.transitions.reduce((sum, transition) => sum + (taken?.get(transition) ?? 0), 0);
  });
  const visited = visitedStates(scene, active, times);
  const counts = times.map((time) => {
    if (time === 0) return { text: '', words: 'Not taken', width: 0 };
    const text = countText(time);
    return {
      text,
      words: time === 1 ? 'Taken once' : `Taken ${formatNumber(time)} times`,
      width: Math.min(5, 1.5 + 0.6 * Math.log2(time + 1)),
    };
  });
  const last = lastOf(scene, marks, live);
  const states = scene.states.map((state, number) => {
    const { copy } = scene.charts[state.chart] as SceneChart;
    const mark = heatMark(input.overlay, stateRefOf(scene, state), copy);
    const heat = heatOf(mark);
    const activeChildren = state.children.filter((child) => active.has(child) && isSameChart(scene, child, number));
    const isLeafOfChart = active.has(number) && activeChildren.length === 0;
    return classes({
      active: active.has(number),
      leaf: isLeafOfChart,
      // Its inside is a drawing of its own, which is hidden while the state is folded.
      'holds-leaf': activeChildren.some((child) => scene.states[child]?.chart !== state.chart),
      visited: visited.has(number),
      failed: ownOf(marks.failed ?? {}, copy)?.has(state.drawn.id) === true,
      [marks.outcome ?? '']: isLeafOfChart && state.drawn.type === 'final' && marks.outcome != null,
      'last-target': number === last.target,
      selected: selected.has(number),
      heated: heat > 0,
      cold: input.overlay !== null && heat === 0,
    });
  });
  const lines = scene.lines.map((line, number) => {
    const chart = scene.charts[line.chart] as SceneChart;
    const isTaken = (times[number] ?? 0) > 0;
    const isNever = (transition: number): boolean => input.neverTaken.has(transitionKey(chart.chartId, transition));
    const isMarked = input.neverTaken.size > 0;
    const { source, target, edge } = line;
    const isBare = chart.drawn.edges.every(({ points }) => points.length === 0);
    return classes({
      taken: isTaken,
      last: last.lines.has(number),
      never: isMarked && edge.transitions.every(isNever),
      partly: isMarked && isTaken && edge.transitions.some(isNever),
      near:
        [source, target].some((end) => end !== null && selected.has(end)) ||
        (isBare && source !== null && active.has(source)),
      selected: input.isSelectedLine(line, chart),
    });
  });
  return { states, lines, counts, leaves, active };
}

const isAt = (scene: Scene, number: number, is: HighlightInput['isSelected']): boolean => {
  const state = scene.states[number] as SceneState;
  return is(state, scene.charts[state.chart] as SceneChart);
};

const isSameChart = (scene: Scene, one: number, other: number): boolean => {
  const copyOf = (number: number) => scene.charts[scene.states[number]?.chart ?? -1]?.copy;
  return copyOf(one) === copyOf(other);
};

function takenIn(marks: Marks, { chartId, copy }: SceneChart): ReadonlyMap<number, number> | undefined {
  return marks.isSum || copy === chartId ? ownOf(marks.taken, chartId) : ownOf(marks.takenIn ?? {}, copy);
}

/** The states at the ends of lines that were taken, the active states, and the states around them. */
function visitedStates(scene: Scene, active: ReadonlySet<number>, times: readonly number[]): ReadonlySet<number> {
  const visited = new Set<number>();
  const visit = (number: number | null): void => {
    for (let at = number; at !== null && !visited.has(at); at = scene.states[at]?.parent ?? null) visited.add(at);
  };
  for (const number of active) visit(number);
  for (const [number, { source, target }] of scene.lines.entries()) {
    if ((times[number] ?? 0) === 0) continue;
    visit(source);
    visit(target);
  }
  return visited;
}

/** The running charts, by number: the outermost one, and inner charts in the states that `marks.where` names. */
function liveCharts(scene: Scene, { where, isSum = false }: Marks): ReadonlySet<number> {
  if (isSum) return new Set(scene.charts.keys());
  const live = new Set<number>();
  for (const [number, { chartId, copy, host }] of scene.charts.entries()) {
    if (host === null) {
      live.add(number);
      continue;
    }
    const { chart, drawn } = scene.states[host] as SceneState;
    const around = scene.charts[chart] as SceneChart;
    const index = ownOf(where, chartId);
    const isHere = copy === around.copy || (index?.chartId === around.chartId && index.stateId === drawn.id);
    if (live.has(chart) && isHere) live.add(number);
  }
  return live;
}

const NO_LINES: ReadonlySet<number> = new Set();

/** The lines of the latest transition, at each level that shows it, and its innermost target. */
function lastOf(scene: Scene, { last }: Marks, live: ReadonlySet<number>) {
  if (last === null) return { lines: NO_LINES, target: null };
  const own = scene.charts.flatMap(({ chartId }, number) =>
    live.has(number) && chartId === last.chartId ? [number] : [],
  );
  const isOwn = new Set(own);
  const lines = scene.lines.flatMap(({ chart, edge, source, target }, number) => {
    if (!isOwn.has(chart)) return [];
    const isTaken =
      last.transition === null
        ? idOf(scene, source) === last.source && idOf(scene, target) === last.target
        : edge.transitions.includes(last.transition);
    return isTaken ? [number] : [];
  });
  const target = scene.states.findIndex(({ chart, drawn }) => isOwn.has(chart) && drawn.id === last.target);
  return { lines: new Set(lines), target: target < 0 ? null : target };
}

const idOf = (scene: Scene, number: number | null): string | null =>
  number === null ? null : (scene.states[number]?.drawn.id ?? null);

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

/** The mark of a state. A copy of an invoked chart has its own marks; if the overlay has none for copies, those of the chart. */
export function heatMark(overlay: Overlay | null, { chartId, stateId }: StateRef, copy = chartId): HeatMark | null {
  if (overlay === null) return null;
  return (ownOf(overlay, copy) ?? ownOf(overlay, chartId))?.get(stateId) ?? null;
}

/** `transition` is its index in the chart. */
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
  const lines = byNumber('line');
  const badges = states.map((element) => element?.querySelector(':scope > .badge') ?? null);
  const labels = byNumber('label');
  const linesFrom = groupBy(scene.lines.keys(), (number) => scene.lines[number]?.source ?? null);
  const set = (element: Element | null | undefined, name: string, value: string | null): void => {
    if (element == null || element.getAttribute(name) === value) return;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  };
  let before: Highlight | null = null;
  const written: string[] = [];

  const paint = (input: HighlightInput): Highlight => {
    const highlight = highlightOf(scene, input);
    for (const [number, state] of scene.states.entries()) {
      const classes = highlight.states[number] ?? '';
      const element = states[number];
      set(element, 'aria-current', highlight.leaves.includes(number) ? 'step' : null);
      const { copy } = scene.charts[state.chart] as SceneChart;
      const mark = heatMark(input.overlay, stateRefOf(scene, state), copy);
      const badge = mark?.text || heatMark(input.badges, stateRefOf(scene, state), copy)?.text || '';
      const isHidden = mark === null && state.drawn.isOpen;
      const text = excerpt(
        input.overlay !== null ? (mark?.text ?? '') : badge || (isHidden ? '' : state.drawn.note),
        BADGE_LENGTH,
      );
      const label = badges[number];
      setText(label, text);
      if (element?.hasAttribute('data-plain') !== (text === '')) element?.toggleAttribute('data-plain');
      const heat = String(heatOf(mark));
      if (element?.style.getPropertyValue('--heat') !== heat) element?.style.setProperty('--heat', heat);
      set(element, 'aria-label', labelOf(state, text, mark?.words ?? null, statusOf(highlight, number)));
      const transitions = (linesFrom.get(number) ?? []).map((line) => transitionText(scene, line, highlight));
      set(element, 'aria-description', transitions.join('; ') || null);
      if (classes === before?.states[number]) continue;
      set(element, 'class', stateClass(state.drawn) + classes);
      set(element, 'aria-selected', String(classes.includes(' selected')));
    }
    for (const [number, classes] of highlight.lines.entries()) {
      const { text = '', words = '', width = 0 } = highlight.counts[number] ?? {};
      const element = lines[number];
      const label = labels[number];
      const line = scene.lines[number] as SceneLine;
      if (classes !== before?.lines[number]) {
        set(element, 'class', lineClass(line) + classes);
        set(label, 'class', labelClass(line) + classes);
      }
      const shown = lineLabel(scene, number, input.marks, text);
      const all = `${shown}\n${words}\n${width}`;
      if (written[number] === all) continue;
      written[number] = all;
      element?.style.setProperty('--count-width', `${width.toFixed(1)}px`);
      const parts = labelParts(shown, text);
      const [name, title] = label?.children ?? [];
      setText(name, parts.name);
      setText(name?.firstElementChild, parts.number);
      set(name?.firstElementChild, 'class', parts.kind);
      setText(title, lineTitle(line, words));
    }
    before = highlight;
    return highlight;
  };
  return { paint, stateAt: (number) => states[number] ?? null };
}

function setText(element: Element | null | undefined, text: string): void {
  const node = element?.firstChild;
  if (node instanceof Text) {
    if (node.data !== text) node.data = text;
  } else if (element != null) element.textContent = text;
}

function statusOf({ states, active }: Highlight, number: number): string {
  const failed = states[number]?.includes(' failed') ? ', failed' : '';
  return `${active.has(number) ? 'active' : 'not active'}${failed}`;
}

/** A line in words, for screen readers: `replied, failed › yield ×2, latest`. */
function transitionText({ lines, states }: Scene, number: number, highlight: Highlight): string {
  const { edge, source, target } = lines[number] as SceneLine;
  const to = target === source ? 'stays' : excerpt(states[target ?? -1]?.drawn.name ?? 'another state', 80);
  const times = highlight.counts[number]?.text;
  const latest = highlight.lines[number]?.includes(' last') ? ', latest' : '';
  return `${excerpt(edge.labels.join(', '), 200)} › ${to}${times ? ` ${times}` : ''}${latest}`;
}

/** The label of a line: its most frequent transition, and how often it was taken. */
function lineLabel(scene: Scene, number: number, marks: Marks, count: string): string {
  const line = scene.lines[number] as SceneLine;
  const { edge, chart } = line;
  if (edge.isBranch) return count;
  if (count === '') return lineText(line, scene);
  const taken = takenIn(marks, scene.charts[chart] as SceneChart);
  const counts = edge.transitions.map((transition) => taken?.get(transition) ?? 0);
  return labelText(edge, { count, shown: counts.indexOf(Math.max(...counts)) });
}

function lineTitle({ edge: { labels } }: SceneLine, words: string): string {
  const all = labels.length === 1 ? '' : `${labels.length} transitions: ${excerpt(labels.join(', '), 200)}\n`;
  return `${all}${words}`;
}

/** Visible text comes first, in reading order: the name and the badge, which the words of an overlay spell out. */
function labelOf({ drawn }: SceneState, badge: string, words: string | null, status: string): string {
  const note = drawn.note === badge ? '' : drawn.note;
  const kind = drawn.type === 'atomic' || drawn.type === 'compound' ? '' : drawn.type;
  const parts = [excerpt(drawn.name, 80), words ?? badge, words === null ? status : '', note, kind];
  const description = drawn.description === '' ? '' : `: ${excerpt(drawn.description, 300)}`;
  return parts.filter((part) => part !== '').join(', ') + description;
}
