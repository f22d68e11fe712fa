import { excerpt } from '../fold/text.ts';
import { type Box, type DrawnState, type DrawnStub, ownOf, type Point } from './drawing.ts';
import { BADGE_LENGTH, labelParts, labelText, labelWidth, NAME_LENGTH } from './label-text.ts';
import { hasInside, type Scene, type SceneLine, type SceneState } from './scene.ts';

/** A level and the levels inside its states, drawn in this order: arcs, boxes, lines, labels, inner levels. */
export function ChartShapes({
  scene,
  chart,
  hues,
}: {
  readonly scene: Scene;
  readonly chart: number;
  readonly hues: Hues;
}) {
  const own = scene.charts[chart];
  if (own === undefined) return null;
  const states = own.states.flatMap((number) => {
    const state = scene.states[number];
    return state === undefined ? [] : [{ number, state }];
  });
  const lines = own.lines.flatMap((number) => {
    const line = scene.lines[number];
    return line === undefined ? [] : [{ number, line }];
  });
  const isArc = ({ line }: { readonly line: SceneLine }): boolean => isSpoke(line);
  const shapeOf = ({ number, line }: { readonly number: number; readonly line: SceneLine }) => (
    <LineShape key={number} number={number} line={line} scene={scene} />
  );
  const places = arcLabels(lines, scene);
  return (
    <g class="chart" data-chart={chart} transform={`translate(${own.x} ${own.y}) scale(${own.scale})`}>
      {lines.filter(isArc).map(shapeOf)}
      {states.map(({ number, state }) => (
        <StateShape key={number} number={number} state={state} scene={scene} hues={hues} />
      ))}
      {own.drawn.stubs.map((stub) => (
        <StubShape key={`${stub.x} ${stub.y}`} stub={stub} />
      ))}
      {lines.filter((line) => !isArc(line)).map(shapeOf)}
      {lines.map(({ number, line }) => (
        <LabelShape key={number} number={number} line={line} scene={scene} place={places.get(number)} />
      ))}
      {states.map(({ number, state }) =>
        state.inset === null ? null : <ChartShapes key={number} scene={scene} chart={state.inset} hues={hues} />,
      )}
    </g>
  );
}

const StubShape = ({ stub: { text, x, y, width, height } }: { readonly stub: DrawnStub }) => (
  <text class="stub" x={x + width / 2} y={y + height / 2}>
    {excerpt(text, NAME_LENGTH)}
  </text>
);

/** Events that the outermost chart handles in all its states, without a transition, are written below it. */
function captionPlace({ chart, source, target, edge }: SceneLine, scene: Scene): Box | null {
  const isCaption = chart === 0 && source === null && target === null && edge.points.length === 0;
  return isCaption ? { x: 8, y: scene.height - 18, width: labelWidth(edge) + 24, height: 16 } : null;
}

/** The label of a line that was not taken. */
export const lineText = (line: SceneLine, scene: Scene): string =>
  captionPlace(line, scene) === null ? labelText(line.edge) : `on ${labelText(line.edge)}`;

interface LineProps {
  readonly number: number;
  readonly line: SceneLine;
  readonly scene: Scene;
}

/** The classes of a state, a line and a label without highlights. */
export const stateClass = ({ type, isOpen, isRegion }: DrawnState): string =>
  `state ${type}${isOpen ? ' open' : ''}${isRegion ? ' region' : ''}`;
export const lineClass = (line: SceneLine): string =>
  isSpoke(line) ? 'edge spoke' : line.edge.dashed ? 'edge outside' : 'edge';
export const labelClass = (line: SceneLine): string => (isSpoke(line) ? 'label spoke' : 'label');

/** Whether a line has no route; a caption has no ends. */
const isSpoke = ({ source, edge }: SceneLine): boolean => edge.points.length === 0 && source !== null;

/** All transitions between two states, as one line with an arrow. A line without a route is an arc that is hidden until it matters. */
function LineShape({ number, line, scene }: LineProps) {
  const { points } = line.edge;
  const arc = arcOf(line, scene);
  if (points.length === 0 && arc === null) return null;
  const path = arc?.path ?? linePath(points);
  const tip = (arc?.end ?? points).at(-1);
  return (
    <g class={lineClass(line)} data-line={number}>
      {line.chart === 0 && <path class="reach" d={path} />}
      <path class="line" d={path} />
      {line.chart === 0 && <path class="pulse" d={path} pathLength={1} />}
      <path
        class="head"
        d={arrowPath(arc?.end ?? points)}
        style={{ transformOrigin: `${tip?.x ?? 0}px ${tip?.y ?? 0}px` }}
      />
    </g>
  );
}

/** Labels are drawn over all lines. */
function LabelShape({ number, line, scene, place: ofArc }: LineProps & { readonly place: Box | undefined }) {
  const { label, isBranch } = line.edge;
  const place = ofArc ?? label ?? captionPlace(line, scene);
  if (place === null) return null;
  const { name, number: count, kind } = labelParts(isBranch ? '' : lineText(line, scene));
  return (
    <g class={labelClass(line)} data-label={number}>
      <text x={place.x + place.width / 2} y={place.y + place.height / 2}>
        {name}
        <tspan class={kind}>{count}</tspan>
      </text>
      <title />
    </g>
  );
}

const RADIUS = 8;
/** The line ends under the arrowhead, so that a smaller head leaves no gap. */
const ARROW = { length: 9, half: 4.5, lineEnd: 3.5 } as const;

/** The path through the points, with rounded corners; it ends below the arrowhead. */
function linePath(points: readonly Point[]): string {
  const last = points.at(-1);
  const before = points.at(-2);
  if (last === undefined || before === undefined) return '';
  const end = towards(last, before, ARROW.lineEnd);
  const path = [...points.slice(0, -1), end];
  return path
    .map((point, index) => {
      const from = path[index - 1];
      const to = path[index + 1];
      if (from === undefined) return `M${at(point)}`;
      if (to === undefined) return `L${at(point)}`;
      const radius = Math.min(RADIUS, distance(from, point) / 2, distance(point, to) / 2);
      return `L${at(towards(point, from, radius))}Q${at(point)} ${at(towards(point, to, radius))}`;
    })
    .join('');
}

interface Arc {
  readonly path: string;
  /** The last part of the arc, for its arrow. */
  readonly end: readonly Point[];
  /** The point at a share of its length. */
  readonly at: (share: number) => Point;
}

/** An arc between the borders of two states; null for a line with a route or without two different ends. */
function arcOf({ source, target, edge }: SceneLine, scene: Scene): Arc | null {
  if (edge.points.length > 0) return null;
  const [one, other] = [source, target].map((number) => (number === null ? undefined : scene.states[number]?.drawn));
  if (one === undefined || other === undefined || one === other) return null;
  const [from, to] = [borderTowards(one, centerOf(other)), borderTowards(other, centerOf(one))];
  const [across, down] = [to.x - from.x, to.y - from.y];
  const middle = { x: from.x + across / 2 - down * 0.15, y: from.y + down / 2 + across * 0.15 };
  const end = towards(to, middle, ARROW.lineEnd);
  return {
    path: `M${at(from)}Q${at(middle)} ${at(end)}`,
    end: [middle, to],
    at: (share) => ({ x: bezier(from.x, middle.x, to.x, share), y: bezier(from.y, middle.y, to.y, share) }),
  };
}

const bezier = (from: number, middle: number, to: number, share: number): number =>
  (1 - share) ** 2 * from + 2 * share * (1 - share) * middle + share ** 2 * to;

/** Positions for the label of an arc, as shares of its length: from its middle to its ends. */
const LABEL_SHARES = Array.from(
  { length: 35 },
  (_, index) => 0.5 + (index % 2 === 0 ? 1 : -1) * Math.ceil(index / 2) * 0.025,
);
/** A label leaves its line only if it would be over another label everywhere on it. */
const LABEL_OFFSETS = [0, -14, 14];
/** A label over another label is worse than one over a state. */
const LABEL_WEIGHT = 20;

/** Returns the label of each arc by line number, placed where it covers the least of states and of other labels. */
function arcLabels(
  lines: readonly { readonly number: number; readonly line: SceneLine }[],
  scene: Scene,
): ReadonlyMap<number, Box> {
  const closed = scene.states.flatMap(({ chart, drawn }) =>
    chart === lines[0]?.line.chart && !drawn.isOpen ? [drawn] : [],
  );
  const fixed = lines.flatMap(({ line: { edge } }): readonly Box[] => (edge.label === null ? [] : [edge.label]));
  const placed: { readonly line: SceneLine; readonly box: Box }[] = [];
  return new Map(
    lines.flatMap(({ number, line }) => {
      const arc = arcOf(line, scene);
      if (arc === null) return [];
      const others = placed.filter(({ line: { source, target } }) =>
        [source, target].some((end) => end === line.source || end === line.target),
      );
      const labels = [...fixed, ...others.map(({ box }) => box)];
      const coveredBy = (box: Box): number => sharedArea(box, closed) + LABEL_WEIGHT * sharedArea(box, labels);
      const width = labelWidth(line.edge);
      let [least, best] = [Number.POSITIVE_INFINITY, { x: 0, y: 0, width, height: 16 }];
      for (const offset of LABEL_OFFSETS) {
        if (sharedArea(best, labels) === 0 && least < Number.POSITIVE_INFINITY) break;
        for (const share of LABEL_SHARES) {
          if (least === 0) break;
          const { x, y } = arc.at(share);
          const box = { x: x - width / 2, y: y + offset - 8, width, height: 16 };
          const covered = coveredBy(box);
          if (covered < least) [least, best] = [covered, box];
        }
      }
      placed.push({ line, box: best });
      return [[number, best] as const];
    }),
  );
}

function sharedArea({ x, y, width, height }: Box, others: readonly Box[]): number {
  return others.reduce((sum, other) => {
    const across = Math.min(x + width, other.x + other.width) - Math.max(x, other.x);
    const down = Math.min(y + height, other.y + other.height) - Math.max(y, other.y);
    return sum + Math.max(0, across) * Math.max(0, down);
  }, 0);
}

const centerOf = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

/** Where the straight line from the center of a box to a point leaves the box. */
function borderTowards(box: Box, to: Point): Point {
  const center = centerOf(box);
  const [across, down] = [to.x - center.x, to.y - center.y];
  const share = Math.min(1, box.width / 2 / (Math.abs(across) || 1), box.height / 2 / (Math.abs(down) || 1));
  return { x: center.x + across * share, y: center.y + down * share };
}

function arrowPath(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return '';
  const base = towards(tip, before, ARROW.length);
  const length = distance(tip, before) || 1;
  const side = { x: (-(tip.y - before.y) / length) * ARROW.half, y: ((tip.x - before.x) / length) * ARROW.half };
  const [one, other] = [
    { x: base.x + side.x, y: base.y + side.y },
    { x: base.x - side.x, y: base.y - side.y },
  ];
  return `M${at(tip)}L${at(one)}L${at(other)}Z`;
}

function towards(from: Point, to: Point, by: number): Point {
  const length = distance(from, to) || 1;
  const share = Math.min(1, by / length);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

const distance = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);
const at = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
const round = (length: number): number => Math.round(length * 10) / 10;

/** Colors of the outermost chart's states, by state id. */
export type Hues = Readonly<Record<string, string>>;

interface ShapeProps {
  readonly number: number;
  readonly state: SceneState;
  readonly scene: Scene;
  readonly hues: Hues;
}

/**
 * A state: its box, its name, and its badge (a measure, what it did, or its invoked actors). A title replaces both while the inside is
 * visible. The painter sets the classes, the badge and the label.
 */
function StateShape({ number, state, scene, hues }: ShapeProps) {
  const { drawn } = state;
  const { x, y, width, height, isOpen } = drawn;
  const radius = drawn.type === 'final' ? Math.min(height / 2, 18) : isOpen ? 12 : 8;
  const hue = scene.charts[state.chart]?.host === null ? (ownOf(hues, drawn.id) ?? null) : null;
  const name = excerpt(drawn.name, NAME_LENGTH);
  const middle = x + width / 2;
  return (
    <g
      class={stateClass(drawn)}
      data-state={number}
      role="treeitem"
      tabindex={-1}
      aria-level={state.level}
      aria-expanded={hasInside(state) ? isOpen : undefined}
      aria-selected={false}
      style={{ ...(hue !== null && { '--hue': hue }), ...insideOf(state, scene) }}
    >
      <rect class="box" x={x} y={y} width={width} height={height} rx={radius} />
      {drawn.type === 'final' && (
        <rect
          class="rim"
          x={x + 3}
          y={y + 3}
          width={Math.max(0, width - 6)}
          height={Math.max(0, height - 6)}
          rx={Math.max(0, radius - 3)}
        />
      )}
      {hue !== null && <path class="stripe" d={stripe(x, y, height, radius)} />}
      {drawn.isInitial && (
        <g class="initial">
          <path d={`M${x - 2} ${y - 8}L${x + 4} ${y + 1}`} />
          <circle cx={x - 2} cy={y - 8} r={3} />
        </g>
      )}
      {state.inset !== null && (
        <>
          <path class="fold" d={`M${x + width - 10.5} ${y + 6}h5M${x + width - 8} ${y + 3.5}v5`} />
          <text class="title" x={(drawn.inset?.x ?? x) + 1} y={y + 2.2}>
            {name}
          </text>
        </>
      )}
      <text class="name" x={isOpen ? x + 12 : middle} y={y + (isOpen ? 15 : 14)}>
        {name}
      </text>{' '}
      {state.chart === 0 && <circle class="active-dot" cx={x + width} cy={y} r={5} />}
      <text class="badge" x={isOpen ? x + width - 12 : middle} y={y + (isOpen ? 15 : 30)}>
        {excerpt(drawn.note, BADGE_LENGTH)}
      </text>
    </g>
  );
}

function insideOf({ drawn: { inset, y }, inset: number }: SceneState, { charts }: Scene): Record<string, string> {
  const inner = number === null ? undefined : charts[number];
  if (inset === null || inner === undefined) return {};
  const [width, bottom] = [inner.drawn.width * inset.scale, inset.y + inner.drawn.height * inset.scale];
  const box = { x: inset.x - 0.4, y, width: width + 0.8, height: bottom + 0.4 - y };
  return Object.fromEntries(Object.entries(box).map(([name, length]) => [`--inside-${name}`, `${length}px`]));
}

function stripe(x: number, y: number, height: number, radius: number): string {
  const width = 4;
  const inner = radius - width;
  return `M${x + radius} ${y}A${radius} ${radius} 0 0 0 ${x} ${y + radius}V${y + height - radius}A${radius} ${radius} 0 0 0 ${x + radius} ${y + height}A${inner} ${radius} 0 0 1 ${x + width} ${y + height - radius}V${y + radius}A${inner} ${radius} 0 0 1 ${x + radius} ${y}Z`;
}
