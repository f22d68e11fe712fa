import { excerpt } from '../fold/text.ts';
import { type Chip, type DrawnEdge, ownOf } from './drawing.ts';
import { LABEL_LENGTH, type Point } from './elk-layout.ts';
import { hasInside, type Scene, type SceneState } from './scene.ts';
import { chipTexts, FONT, labelText, NAME_LENGTH } from './state-box.ts';

/**
 * A chart and the charts inside its states, drawn in this order: boxes, lines, inner charts, covers of collapsed
 * states.
 */
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

/** Transitions written as text in their source state. */
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

/** The path through the points, with rounded corners; it ends at the base of the arrowhead. */
function linePath(points: readonly Point[]): string {
  const last = points.at(-1);
  const before = points.at(-2);
  if (last === undefined || before === undefined) return '';
  const end = towards(last, before, ARROW.length - 1);
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

/** Colors of the outermost chart's states, by state id. */
export type Hues = Readonly<Record<string, string>>;

/** A state: its box, name and invoked actors. The painter sets its classes and label. */
function StateShape({ number, state, scene, hues }: ShapeProps) {
  const { drawn } = state;
  const isBox = hasInside(state);
  const size = isBox ? FONT.title : FONT.name;
  const radius = drawn.type === 'final' ? Math.min(drawn.height / 2, 18) : isBox ? 10 : 7;
  const hue = scene.charts[state.chart]?.host === null ? (ownOf(hues, drawn.id) ?? null) : null;
  return (
    <g
      class={`state ${drawn.type}`}
      data-state={number}
      role="treeitem"
      tabindex={-1}
      aria-level={state.level}
      aria-expanded={isBox ? true : undefined}
      aria-selected={false}
      style={hue === null ? undefined : { '--hue': hue }}
    >
      <rect class="box" x={drawn.x} y={drawn.y} width={drawn.width} height={drawn.height} rx={radius} />
      {drawn.type === 'final' && (
        <rect
          class="rim"
          x={drawn.x + 3}
          y={drawn.y + 3}
          width={Math.max(0, drawn.width - 6)}
          height={Math.max(0, drawn.height - 6)}
          rx={Math.max(0, radius - 3)}
        />
      )}
      {hue !== null && <path class="stripe" d={stripe(drawn.x, drawn.y, drawn.height, radius)} />}
      {drawn.isInitial && (
        <g class="initial">
          <path d={`M${drawn.x - 9} ${drawn.y - 9}L${drawn.x} ${drawn.y}`} />
          <circle cx={drawn.x - 9} cy={drawn.y - 9} r={3.5} />
        </g>
      )}
      <text class={isBox ? 'name title' : 'name'} x={drawn.x + 10} y={drawn.y + 6 + size / 2}>
        {excerpt(drawn.name, NAME_LENGTH)}
      </text>{' '}
      {drawn.note !== '' && (
        <text class="note" x={drawn.x + 10} y={drawn.y + 6 + size + 8}>
          {drawn.note}
        </text>
      )}
      {isBox && <ToggleShape x={drawn.x + drawn.width - 17} y={drawn.y + 17} />}
      <circle class="active-dot" cx={drawn.x + drawn.width} cy={drawn.y} r={isBox ? 9 : 7} />{' '}
      <text class="heat" x={drawn.x + drawn.width - 8} y={drawn.y + drawn.height} />
    </g>
  );
}

interface ShapeProps {
  readonly number: number;
  readonly state: SceneState;
  readonly scene: Scene;
  readonly hues: Hues;
}

function stripe(x: number, y: number, height: number, radius: number): string {
  const width = 5;
  const inner = radius - width;
  return `M${x + radius} ${y}A${radius} ${radius} 0 0 0 ${x} ${y + radius}V${y + height - radius}A${radius} ${radius} 0 0 0 ${x + radius} ${y + height}A${inner} ${radius} 0 0 1 ${x + width} ${y + height - radius}V${y + radius}A${inner} ${radius} 0 0 1 ${x + radius} ${y}Z`;
}

/** Covers the inside of a collapsed state. */
function CoverShape({ number, state: { drawn } }: Pick<ShapeProps, 'number' | 'state'>) {
  return (
    <g class="cover" data-cover={number}>
      <rect class="box" x={drawn.x} y={drawn.y} width={drawn.width} height={drawn.height} rx={10} />
      <text class="name title" x={drawn.x + drawn.width / 2} y={drawn.y + drawn.height / 2}>
        {excerpt(drawn.name, NAME_LENGTH)}
      </text>
      <ToggleShape x={drawn.x + drawn.width - 17} y={drawn.y + 17} />
      <circle class="active-dot" cx={drawn.x + drawn.width} cy={drawn.y} r={9} />
    </g>
  );
}

/** Expands or collapses a state with the pointer; the keyboard uses the space bar. */
function ToggleShape({ x, y }: { readonly x: number; readonly y: number }) {
  return (
    <g class="toggle">
      <circle cx={x} cy={y} r={9} />
      <path class="minus" d={`M${x - 4} ${y}h8`} />
      <path class="plus" d={`M${x} ${y - 4}v8`} />
    </g>
  );
}
