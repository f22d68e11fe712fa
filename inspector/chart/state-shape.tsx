import { ownOf } from './own-of.ts';
import { hasInside, type Scene, type SceneState } from './scene.ts';
import { NAME_LENGTH } from './state-box.ts';
import { FONT, shownText } from './text-size.ts';

/** Colours of states of the chart on top, by their ids. */
export type Hues = Readonly<Record<string, string>>;

/** A state: its box, its name, and what runs in it. Its classes and its label come from the painter. */
export function StateShape({ number, state, scene, hues }: ShapeProps) {
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
        {shownText(drawn.name, NAME_LENGTH)}
      </text>{' '}
      {drawn.note !== '' && (
        <text class="note" x={drawn.x + 10} y={drawn.y + 6 + size + 8}>
          {drawn.note}
        </text>
      )}
      {isBox && <ToggleShape x={drawn.x + drawn.width - 17} y={drawn.y + 17} />}
      <circle class="here" cx={drawn.x + drawn.width} cy={drawn.y} r={isBox ? 9 : 7} />{' '}
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

/** What a closed state shows instead of its inside. */
export function CoverShape({ number, state: { drawn } }: Pick<ShapeProps, 'number' | 'state'>) {
  return (
    <g class="cover" data-cover={number} data-lid={number}>
      <rect class="box" x={drawn.x} y={drawn.y} width={drawn.width} height={drawn.height} rx={10} />
      <text class="name title" x={drawn.x + drawn.width / 2} y={drawn.y + drawn.height / 2}>
        {shownText(drawn.name, NAME_LENGTH)}
      </text>
      <ToggleShape x={drawn.x + drawn.width - 17} y={drawn.y + 17} />
      <circle class="here" cx={drawn.x + drawn.width} cy={drawn.y} r={9} />
    </g>
  );
}

/** Opens and closes a state, with the pointer; the keyboard has the space bar. */
function ToggleShape({ x, y }: { readonly x: number; readonly y: number }) {
  return (
    <g class="toggle">
      <circle cx={x} cy={y} r={9} />
      <path class="minus" d={`M${x - 4} ${y}h8`} />
      <path class="plus" d={`M${x} ${y - 4}v8`} />
    </g>
  );
}
