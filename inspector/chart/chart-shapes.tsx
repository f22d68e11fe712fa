import type { Chip, DrawnEdge } from './drawing.ts';
import { LABEL_LENGTH } from './elk-graph.ts';
import type { Point } from './laid-state.ts';
import { hasInside, type Scene } from './scene.ts';
import { chipTexts, labelText } from './state-box.ts';
import { CoverShape, type Hues, StateShape } from './state-shape.tsx';

/** A chart with the charts inside its states: boxes, then lines, then what is inside, then the lids of what is closed. */
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
  return (
    <g data-chart={chart} transform={`translate(${own.x} ${own.y}) scale(${own.scale})`}>
      {states.map(({ number, state }) => (
        <StateShape key={number} number={number} state={state} scene={scene} hues={hues} />
      ))}
      {lines.map(({ number, line: { edge, chip } }) => {
        if (edge !== null) return <EdgeShape key={number} number={number} edge={edge} />;
        return chip === null ? null : <ChipShape key={number} number={number} chip={chip} />;
      })}
      {states.map(({ number, state }) =>
        state.inset === null ? null : <ChartShapes key={number} scene={scene} chart={state.inset} hues={hues} />,
      )}
      {states.map(({ number, state }) =>
        hasInside(state) ? <CoverShape key={number} number={number} state={state} /> : null,
      )}
    </g>
  );
}

/** All transitions between two states, as one line with an arrow. */
function EdgeShape({ number, edge }: { readonly number: number; readonly edge: DrawnEdge }) {
  const { points, label, labels, dashed } = edge;
  const path = linePath(points);
  return (
    <g class={dashed ? 'edge outside' : 'edge'} data-line={number}>
      <path class="reach" d={path} />
      <path class="line" d={path} />
      <path class="head" d={arrowPath(points)} />
      {label !== null && (
        <g class="label">
          <rect x={label.x} y={label.y} width={label.width} height={label.height} rx={3} />
          <text x={label.x + label.width / 2} y={label.y + label.height / 2}>
            {labelText(labels, LABEL_LENGTH)}
          </text>
        </g>
      )}
    </g>
  );
}

/** Transitions told in words in the state that they leave. */
function ChipShape({ number, chip }: { readonly number: number; readonly chip: Chip }) {
  const { label, labelAt, arrowAt, target, targetAt } = chipTexts(chip);
  const middle = chip.y + chip.height / 2;
  return (
    <g class="chip" data-line={number}>
      <rect x={chip.x} y={chip.y} width={chip.width} height={chip.height} rx={chip.height / 2} />
      <text x={chip.x + labelAt} y={middle}>
        {label}
      </text>
      <path d={`M${chip.x + arrowAt} ${middle}h7m-2.5 -2.5l2.5 2.5l-2.5 2.5`} />
      <text x={chip.x + targetAt} y={middle}>
        {target}
      </text>
    </g>
  );
}

const RADIUS = 6;
const ARROW = { length: 10, half: 4.6 } as const;

/** A line through points, its corners rounded; it ends where the head of its arrow begins. */
function linePath(points: readonly Point[]): string {
  const last = points.at(-1);
  const before = points.at(-2);
  if (last === undefined || before === undefined) return '';
  const end = towards(last, before, ARROW.length - 1);
  const way = [...points.slice(0, -1), end];
  return way
    .map((point, place) => {
      const from = way[place - 1];
      const to = way[place + 1];
      if (from === undefined) return `M${at(point)}`;
      if (to === undefined) return `L${at(point)}`;
      const radius = Math.min(RADIUS, distance(from, point) / 2, distance(point, to) / 2);
      return `L${at(towards(point, from, radius))}Q${at(point)} ${at(towards(point, to, radius))}`;
    })
    .join('');
}

/** The head of an arrow at the end of a line. */
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
