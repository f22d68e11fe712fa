import { type ComponentChildren, Fragment } from 'preact';
import { useRef } from 'preact/hooks';
import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { copyKey } from '../fold/chart-copies.ts';
import { type IndexedChart, indexChart, placeIn } from '../fold/chart-index.ts';
import { isInsideOf, isOwnChart, lineWords, transitionName, transitionWords, wayText } from '../fold/chart-words.ts';
import { formatNumber } from '../fold/format.ts';
import { groupBy } from '../fold/group-by.ts';
import { type Marks, visitedStates } from '../fold/marks.ts';
import type { ChartSelection } from '../fold/selection.ts';
import { excerpt } from '../fold/text.ts';
import {
  type Box,
  type BoxLine,
  type DrawnEdge,
  type DrawnLevel,
  type DrawnState,
  ownOf,
  type Point,
} from './drawing.ts';
import {
  BOX,
  CHIP_PAD,
  FONT,
  frameHeights,
  framesOf,
  LABEL_LINE,
  labelLines,
  MAX_PATH,
  NO_CHIP,
  stubLines,
  widthOf,
} from './label-text.ts';
import { MAX_BADGE, MAX_NAME, normalizeChart } from './normalize-chart.ts';

/** The level that is shown. `copy` is the key of its marks: the chart, and for an invoked chart the state that invokes it. */
export interface ShownLevel {
  readonly chartId: string;
  readonly level: string;
  readonly copy: string;
  readonly name: string;
  /** The state of the level above whose inside this is. */
  readonly host: string;
}

/** Colors of the outermost chart's states, by state id. */
type Hues = Readonly<Record<string, string>>;

export interface ChartViewProps {
  readonly charts: RunCharts;
  readonly root: string;
  readonly marks: Marks;
  readonly hues: Hues;
  readonly selected: ChartSelection | null;
  readonly onSelect: (selection: ChartSelection) => void;
  /** The approximate ratio of width to height of the available space. */
  readonly aspect: number;
  /** Whether the actor was stopped in its active states. */
  readonly isStopped: boolean;
  /** A button that gives the chart the height of the page, and back. */
  readonly resize?: ComponentChildren;
}

interface ChartPictureProps extends Omit<ChartViewProps, 'charts' | 'root' | 'resize' | 'aspect'> {
  readonly known: KnownMarks;
  readonly place: ShownLevel;
  readonly level: DrawnLevel;
  readonly scale: number;
  readonly hasInside: (stateId: string) => boolean;
  readonly onOpen: (stateId: string) => void;
}

export const MARGIN = 6;
const NOTHING_TAKEN: ReadonlyMap<number, number> = new Map();
const NOTHING_LEFT: ReadonlyMap<number, string> = new Map();
const NONE: ReadonlySet<string> = new Set();

/** One level of a chart with the marks of a run. Lines and their labels are drawn over states. */
export function ChartPicture(props: ChartPictureProps) {
  const { known, place, level, scale, marks, selected, onSelect, onOpen } = props;
  const { chartId, copy } = place;
  const svg = useRef<SVGSVGElement>(null);
  const { chart, index, taken, visited } = known;
  const isOwn = isOwnChart(chartId);
  const hasLines = level.edges.some(({ points }) => points.length > 0);
  const lines = level.edges.map((edge) => lineOf(edge, known));
  const linesFrom = groupBy(lines, ({ edge }) => edge.source);
  const isSelected = (stateId: string): boolean =>
    selected?.kind === 'state' && selected.chartId === chartId && selected.stateId === stateId;
  // Without a selected state, the one that the selected step entered.
  const entered = selected?.kind === 'state' || isOwn ? undefined : known.last?.target;
  const ringed = level.states.findLast(({ id }) => entered !== undefined && index.isInside(entered, id))?.id;
  const select = (stateId: string): void => {
    if (isSelected(stateId)) onOpen(stateId);
    else onSelect({ kind: 'state', chartId, stateId });
  };
  const isChosen = ({ transitions }: DrawnEdge): boolean =>
    selected?.kind === 'transitions' &&
    selected.chartId === chartId &&
    transitions.some((one) => selected.transitions.includes(one));
  const chooseStub = (transitions: readonly number[]): void => onSelect({ kind: 'transitions', chartId, transitions });
  const [width, height] = [level.width + 2 * MARGIN, level.height + 2 * MARGIN];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing is not a fieldset
    <svg
      ref={svg}
      class="chart-picture"
      role="group"
      aria-label={`States of ${excerpt(place.name, 80)}`}
      width={width * scale}
      height={height * scale}
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
      onKeyDown={(event) => pressed(event, svg.current, (at) => select(level.states[at]?.id ?? ''))}
    >
      {level.states.map((drawn, number) => (
        <StateShape
          key={drawn.id}
          {...props}
          drawn={drawn}
          isFirst={number === 0}
          status={{
            ...statusOf(drawn.id, level, known),
            failed: visited.has(drawn.id) && isMarkedFailed(marks, copy, drawn.id),
            selected: isSelected(drawn.id),
            ringed: isSelected(drawn.id) || drawn.id === ringed,
          }}
          badge={
            (isOwn && hasLines && omittedWay(chart, linesFrom.get(drawn.id) ?? [], taken)) ||
            (isOwn ? index.state(drawn.id)?.invokes.join(', ') : insideOf(drawn, known)) ||
            ''
          }
          ways={waysOf(drawn.id, index, linesFrom.get(drawn.id) ?? [])}
          onChoose={() => select(drawn.id)}
          onStub={chooseStub}
        />
      ))}
      <Lines lines={level.lines} x={2} y={0} known={known} onStub={chooseStub} />
      {lines
        .filter(({ edge }) => edge.points.length > 0)
        // Later lines are drawn over earlier ones, so the taken ones and the latest stay fully visible.
        .sort((one, other) => rankOf(one) - rankOf(other))
        .map((line) => (
          <LineShape
            key={level.edges.indexOf(line.edge)}
            line={line}
            isSelected={isChosen(line.edge)}
            onSelect={() => onSelect({ kind: 'transitions', chartId, transitions: line.edge.transitions })}
          />
        ))}
      {level.stubs.map(({ text, transitions, x, y, width, height }) => {
        const left = isOwn ? undefined : leftBy(transitions, known);
        const texts = isOwn ? [excerpt(text, MAX_NAME)] : stubLines(text, left);
        // A line to the right begins at its text.
        const isBefore = level.edges.some(
          ({ points: [at] }) => at && Math.abs(at.x - x - width) < 1 && at.y > y && at.y < y + height,
        );
        return (
          <Fragment key={`${x} ${y}`}>
            <rect class="behind" x={x + 4} y={y} width={width - 8} height={height} />
            {texts.map((one, at) => (
              <text
                key={one}
                class={left === undefined ? 'elsewhere' : 'elsewhere done'}
                style={isBefore ? { textAnchor: 'end' } : undefined}
                x={isBefore ? x + width - 8 : x + width / 2}
                y={y + height / 2 + (at - (texts.length - 1) / 2) * LABEL_LINE}
              >
                {one}
              </text>
            ))}
          </Fragment>
        );
      })}
    </svg>
  );
}

/** Moves the focus between states, and selects the one that has it. */
function pressed(event: KeyboardEvent, svg: SVGSVGElement | null, select: (at: number) => void): void {
  const states = [...(svg?.querySelectorAll<SVGGElement>('.state') ?? [])];
  const at = states.indexOf(document.activeElement as SVGGElement);
  const step = STEPS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || at < 0) return;
  if (step !== undefined) states[Math.max(0, Math.min(states.length - 1, at + step))]?.focus();
  else if (event.key === 'Enter' || event.key === ' ') select(at);
  else return;
  event.preventDefault();
}

function statusOf(stateId: string, level: DrawnLevel, { index, active, visited }: KnownMarks) {
  const hasActiveInside = level.states.some(({ id }) => index.state(id)?.parent === stateId && active.has(id));
  return {
    active: active.has(stateId),
    leaf: active.has(stateId) && !hasActiveInside,
    never: !visited.has(stateId),
  };
}

/** A chart with the marks of one of its copies; null if there is no such chart. */
export function marksOfCopy(charts: RunCharts, marks: Marks, chartId: string, copy: string) {
  const chart = normalizedChart(charts, chartId);
  if (chart === undefined) return null;
  const host = ownOf(marks.where, chartId);
  const isLive = copy === chartId || host === undefined || copyKey(chartId, host) === copy;
  const active = (isLive && ownOf(marks.active, chartId)) || NONE;
  const taken = ownOf(marks.taken, copy) ?? NOTHING_TAKEN;
  const last = isLive && marks.last?.chartId === chartId ? marks.last : null;
  const visited = visitedStates(chart, taken, active);
  const left = ownOf(marks.left, chartId) ?? NOTHING_LEFT;
  return { chart, index: indexChart(chart), active, taken, visited, last, left };
}

/** The state that one of these transitions of a state around it last left: of the latest one, if that is among them. Undefined if none was taken. */
export function leftBy(transitions: readonly number[], { index, last, left }: KnownMarks): string | undefined {
  const latest = transitions.find((at) => at === last?.transition) ?? transitions.find((at) => left.has(at));
  const id = left.get(latest ?? -1);
  return id && placeIn(index, id);
}

/** Whether a state was last left because of a failure. */
export const isMarkedFailed = ({ failed }: Marks, copy: string, id: string): boolean =>
  ownOf(failed, copy)?.has(id) === true;

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

const normalized = new WeakMap<Chart, Chart>();

function normalizedChart({ charts }: RunCharts, id: string): Chart | undefined {
  const chart = charts.find((one) => one.id === id);
  if (chart === undefined) return undefined;
  const cached = normalized.get(chart) ?? normalizeChart(chart);
  normalized.set(chart, cached);
  return cached;
}

export type KnownMarks = NonNullable<ReturnType<typeof marksOfCopy>>;

/** All transitions between two states. */
interface Line {
  readonly edge: DrawnEdge;
  /** What takes it, the most frequent first. */
  readonly words: readonly string[];
  /** What took it; before it was taken, and for charts of other programs, what can. */
  readonly label: readonly string[];
  readonly names: readonly string[];
  readonly times: number;
  /** The label has a count at each of its words. */
  readonly isEach: boolean;
  readonly isLast: boolean;
  /** How many frames of the label, from the first, were taken, and which one is of the latest transition. */
  readonly done: number;
  readonly latest: number;
}

function lineOf(edge: DrawnEdge, { chart, index, taken: counts, last }: KnownMarks): Line {
  const timesOf = (at: number): number => counts.get(at) ?? 0;
  const ordered = [...edge.transitions].sort((one, other) => timesOf(other) - timesOf(one));
  const ways = ordered.flatMap((at) => chart.transitions[at] ?? []);
  const words = lineWords(index, ways, edge);
  const taken = ordered.filter((at) => timesOf(at) > 0).length;
  const times = ordered.reduce((sum, at) => sum + timesOf(at), 0);
  const counted = new Map(words.map((word) => [word, 0]));
  for (const [at, word] of words.entries()) counted.set(word, (counted.get(word) ?? 0) + timesOf(ordered[at] ?? -1));
  const isEach = !isOwnChart(chart.id);
  const lastAt = last?.transition == null ? -1 : ordered.indexOf(last.transition);
  const isOne = !isEach || edge.isBranch;
  return {
    edge,
    words,
    label: isEach
      ? [...counted].map(([word, count]) => `${word} ${countText(count)}`.trim())
      : taken === 0
        ? words
        : words.slice(0, taken),
    names: ways.map(transitionName),
    times,
    isEach,
    isLast: lastAt >= 0,
    done: isOne ? Number(times > 0) : [...counted.values()].filter((count) => count > 0).length,
    latest: isOne ? Math.min(lastAt, 0) : [...counted.keys()].indexOf(words[lastAt] ?? ''),
  };
}

const rankOf = ({ times, isLast }: Line): number => Number(times > 0) + Number(isLast);

export const countText = (times: number): string => (times === 0 ? '' : times > 99 ? '×99+' : `×${times}`);

/** How many transitions were taken inside a folded state. */
function insideOf(drawn: DrawnState, known: KnownMarks): string {
  if (drawn.isOpen) return '';
  const { chart, index, taken } = known;
  const times = [...taken].reduce((sum, [at, count]) => {
    const way = chart.transitions[at];
    return way !== undefined && isInsideOf(index, drawn.id, way) ? sum + count : sum;
  }, 0);
  return countText(times);
}

/** The most frequent way out of a state that the layout has no line for, and the number of the others; empty if none was taken. */
function omittedWay(chart: Chart, lines: readonly Line[], counts: ReadonlyMap<number, number>): string {
  const omitted = lines.filter(({ edge }) => edge.points.length === 0 && edge.target !== edge.source);
  const ways = omitted
    .flatMap(({ edge }) => edge.transitions)
    .flatMap((index) => {
      const [way, times] = [chart.transitions[index], counts.get(index) ?? 0];
      return way === undefined || times === 0 ? [] : { way, times };
    });
  const groups = [...groupBy(ways, ({ way }) => wayText(chart.id, way)).values()]
    .map((group) => ({ way: group[0]?.way, times: group.reduce((sum, { times }) => sum + times, 0) }))
    .sort((one, other) => other.times - one.times);
  const { way, times = 0 } = groups[0] ?? {};
  if (way === undefined) return '';
  const count = countText(times);
  return groups.length === 1
    ? wayText(chart.id, way, count)
    : `${transitionWords(chart.id, way)} ${count} +${groups.length - 1}`;
}

/** The lines that leave a state, in words, for screen readers: `succeeded (done: phaseSucceeded) › yield ×2, latest`. */
function waysOf(id: string, index: IndexedChart, lines: readonly Line[]): string {
  return lines
    .map(({ edge, words, names, times, isLast }) => {
      const to =
        edge.target === id ? 'stays' : edge.target === null ? 'another state' : placeIn(index, edge.target, id);
      const labels = words.map((word, at) => (word === names[at] ? word : `${word} (${names[at]})`));
      return `${excerpt(labels.join(', '), 200)} › ${excerpt(to, 80)} ${countText(times)}${isLast ? ', latest' : ''}`;
    })
    .join('; ');
}

interface StateShapeProps
  extends Pick<ChartPictureProps, 'known' | 'hues' | 'hasInside' | 'onOpen' | 'place' | 'isStopped'> {
  readonly drawn: DrawnState;
  readonly isFirst: boolean;
  readonly status: Readonly<Record<'active' | 'leaf' | 'never' | 'failed' | 'selected' | 'ringed', boolean>>;
  readonly badge: string;
  readonly ways: string;
  readonly onStub: (transitions: readonly number[]) => void;
  readonly onChoose: () => void;
}

function StateShape(props: StateShapeProps) {
  const { drawn, isFirst, status, badge, ways, known, hues, place, isStopped, hasInside, onOpen, onChoose } = props;
  const { index } = known;
  const { id, x, y, width, height, isOpen, lines } = drawn;
  const state = index.state(id);
  if (state === undefined) return null;
  const { name, type, description, parent } = state;
  const around = index.state(parent ?? '');
  const isInside = hasInside(id);
  const isPlain = !isOpen && lines.length === 0;
  const head = isPlain ? height : BOX.head;
  const isRegion = around?.type === 'parallel';
  const hue = place.copy === place.chartId ? ownOf(hues, id) : undefined;
  const kind = type === 'atomic' || type === 'compound' ? '' : type;
  const words = status.active
    ? isStopped
      ? 'stopped here'
      : 'active'
    : status.failed
      ? 'failed'
      : status.never
        ? 'not visited'
        : 'visited';
  const label = [excerpt(name, 80), badge, ...linesOf(props).map((line) => lineText(line, known)), words, kind]
    .filter((part) => part !== '')
    .join(', ');
  const baseline = y + head / 2;
  const isAlone = isPlain && !isInside && badge === '';
  // In an overview, a box may be narrower than its name.
  const spare = width - widthOf(excerpt(name, MAX_NAME), FONT.name);
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no buttons
    <g
      class={classNames({ state: true, [type]: true, open: isOpen, region: isRegion, ...status })}
      data-state={id}
      role="button"
      tabindex={isFirst ? 0 : -1}
      aria-pressed={status.selected}
      aria-current={status.leaf ? 'step' : undefined}
      aria-label={description === '' ? label : `${label}: ${excerpt(description, 300)}`}
      aria-description={ways || undefined}
      style={hue === undefined ? undefined : { '--hue': hue }}
      onFocus={({ currentTarget }) => {
        for (const other of currentTarget.parentElement?.querySelectorAll('.state') ?? [])
          other.setAttribute('tabindex', other === currentTarget ? '0' : '-1');
      }}
      onClick={({ target }) => (target instanceof Element && target.closest('.fold') ? onOpen(id) : onChoose())}
    >
      <rect class="box" x={x} y={y} width={width} height={height} rx={8} />
      <rect class="ring" x={x - 3.5} y={y - 3.5} width={width + 7} height={height + 7} rx={11} />
      {type === 'final' && <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={5} />}
      {hue !== undefined && <rect class="stripe" x={x + 1} y={y + 6} width={4} height={height - 12} rx={2} />}
      {around?.initial === id && <circle class="initial" cx={x} cy={y} r={4} />}
      {spare > 0 && (
        <text class={isAlone ? 'name alone' : 'name'} x={isAlone ? x + width / 2 : x + 12} y={baseline}>
          {excerpt(name, MAX_NAME)}
        </text>
      )}{' '}
      {spare > widthOf(badge, FONT.label) && (
        <text class="badge" x={x + width - (isInside ? 32 : 12)} y={baseline}>
          {excerpt(badge, MAX_BADGE)}
        </text>
      )}{' '}
      {lines.length > 0 && !isOpen && <path class="rule" d={`M${x} ${y + BOX.head}h${width}`} />}
      <Lines lines={linesOf(props)} x={x + BOX.side} y={y + BOX.head + 3} known={known} onStub={props.onStub} />
      {isInside && (
        <g class="fold">
          <rect x={x + width - 28} y={y + 2} width={26} height={head - 4} />
          <path d={`M${x + width - 20} ${y + head / 2}h10M${x + width - 15} ${y + head / 2 - 5}v10`} />
        </g>
      )}
    </g>
  );
}

const timesOf = ({ transitions }: BoxLine, { taken }: KnownMarks): number =>
  transitions.reduce((sum, index) => sum + (taken.get(index) ?? 0), 0);

export const lineText = (line: BoxLine, known: KnownMarks): string =>
  `${line.text} ${countText(timesOf(line, known))}`.trim();

/** Returns the path of the active state inside a folded one; empty if there is none. */
export function activePath(id: string, { index, active }: KnownMarks): string {
  const activeIn = (parent: string) => index.childrenOf(parent).find((state) => active.has(state.id));
  const names: string[] = [];
  for (let inner = activeIn(id); inner !== undefined; inner = activeIn(inner.id)) names.push(inner.name);
  const path = names.join(' › ');
  return excerpt(path.length > MAX_PATH && names.length > 1 ? `… ${names.at(-1)}` : path, MAX_PATH);
}

/** The lines below the name of a box, with the active state inside it. */
const linesOf = (props: StateShapeProps): readonly BoxLine[] =>
  props.drawn.lines.map((line) =>
    line.kind === 'inside' ? { ...line, text: activePath(props.drawn.id, props.known) || line.text } : line,
  );

interface LinesProps {
  readonly lines: readonly BoxLine[];
  readonly x: number;
  readonly y: number;
  readonly known: KnownMarks;
  readonly onStub: (transitions: readonly number[]) => void;
}

/** What a state does, with counts of the transitions taken. Stubs can be clicked. */
const Lines = ({ lines, x, y, known, onStub }: LinesProps) => (
  <>
    {lines.map((line, at) => {
      const { kind, text, transitions } = line;
      return (
        // biome-ignore lint/a11y/noStaticElementInteractions: the state lists its transitions, and is selected with keys
        <text
          key={`${kind} ${text}`}
          class={classNames({ [kind]: true, done: timesOf(line, known) > 0 })}
          x={x}
          y={y + (at + 0.5) * BOX.line}
          onClick={(event) => {
            if (kind !== 'stub') return;
            event.stopPropagation();
            onStub(transitions);
          }}
        >
          {`${lineText(line, known)} `}
        </text>
      );
    })}
  </>
);

const classNames = (which: Readonly<Record<string, boolean>>): string =>
  Object.keys(which)
    .filter((name) => which[name])
    .join(' ');

interface LineShapeProps {
  readonly line: Line;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

function LineShape({ line, isSelected, onSelect }: LineShapeProps) {
  const { edge, names, times, isLast } = line;
  const { points, label, isBranch } = edge;
  const count = countText(times);
  const frames = isBranch ? [[count]] : line.isEach ? framesOf(line.label) : [labelLines(line.label, count)];
  const path = linePath(points);
  const taken = times === 0 ? 'Not taken' : times === 1 ? 'Taken once' : `Taken ${formatNumber(times)} times`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the states describe their lines, and are selected with keys
    <g class={classNames({ edge: true, taken: times > 0, last: isLast, selected: isSelected })} onClick={onSelect}>
      <title>{`${excerpt(names.join(', '), 300)}\n${taken}`}</title>
      <path class="reach" d={path} />
      <path class="line" d={path} />
      {isLast && <path key={times} class="moving" d={path} pathLength={1} />}
      {label !== null && (
        <Label {...{ label, points, line }} frames={frames.filter((lines) => lines.some((text) => text !== ''))} />
      )}
      <path class="head" d={arrowPath(points)} />
    </g>
  );
}

interface LabelProps {
  readonly label: Box;
  readonly frames: readonly (readonly string[])[];
  readonly points: readonly Point[];
  readonly line: Line;
}

/** A label on a gap in its line, or beside it: of other programs, a frame for each transition. The box may be larger than the text. */
function Label({ label, frames, points, line: { isEach, done, latest } }: LabelProps) {
  const pad = isEach ? CHIP_PAD : NO_CHIP;
  const { x, y, width, height } = label;
  const isBeside = points.every((point) => point.x <= x);
  const middle = isBeside ? x + pad.x + 2 : x + width / 2;
  const heights = frameHeights(frames, pad);
  let bottom = y + (height - heights.reduce((sum, one) => sum + one, 0)) / 2;
  return (
    <>
      {frames.map((texts, number) => {
        const shown = Math.max(0, ...texts.map((text) => widthOf(text, FONT.label)));
        const top = bottom;
        bottom += heights[number] ?? 0;
        return (
          <Fragment key={texts.join()}>
            <rect
              class={isEach ? 'behind bordered' : 'behind'}
              x={(isBeside ? middle : middle - shown / 2) - pad.x}
              y={top}
              width={shown + 2 * pad.x}
              height={heights[number]}
              rx={5}
            />
            {texts.map((text, at) => (
              <text
                key={text}
                class={classNames({ beside: isBeside, done: number < done, latest: number === latest })}
                x={middle}
                y={top + pad.y + (at + 0.5) * LABEL_LINE}
              >
                {text}
              </text>
            ))}
          </Fragment>
        );
      })}
    </>
  );
}

const RADIUS = 6;

/** The path through the points, with rounded corners. */
function linePath(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const [from, to] = [points[index - 1], points[index + 1]];
      if (from === undefined || to === undefined) return `${from === undefined ? 'M' : 'L'}${point.x} ${point.y}`;
      const [start, end] = [towards(point, from), towards(point, to)];
      return `L${start.x} ${start.y}Q${point.x} ${point.y} ${end.x} ${end.y}`;
    })
    .join('');
}

function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const share = Math.min(RADIUS, length / 2) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function arrowPath(points: readonly Point[]): string {
  const [before, tip] = [points.at(-2), points.at(-1)];
  if (before === undefined || tip === undefined) return '';
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [x, y] = [((tip.x - before.x) / length) * 8, ((tip.y - before.y) / length) * 8];
  return `M${tip.x} ${tip.y}l${-x - y / 2} ${-y + x / 2}l${y} ${-x}Z`;
}
