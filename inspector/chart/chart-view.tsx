import './chart.css';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import type { ChartSelection } from '../fold/selection.ts';
import { excerpt } from '../fold/text.ts';
import { IconButton } from '../icon.tsx';
import type { Viewport, WindowSize } from './camera.ts';
import { type ChartController, createChartController } from './chart-controller.ts';
import { type ChartProps, ChartRows } from './chart-rows.tsx';
import { ChartShapes, type Hues } from './chart-shapes.tsx';
import type { Drawing, LaidOut } from './drawing.ts';
import { bakedDrawingsOf, layoutOf } from './layout.ts';
import { lineSelector, type Scene, sceneOf, stateRefOf, stateSelector } from './scene.ts';

type ShowView = (view: Viewport, size: WindowSize) => void;

/** How much of the picture may be outside the window before the minimap appears, in pixels of the picture. */
const SLACK = 28;

interface MinimapProps {
  readonly scene: Scene;
  readonly onReady: (show: ShowView) => void;
  /** The pointer chose a point of the picture; the keyboard moves the chart itself. */
  readonly onCenter: (point: DOMPoint) => void;
}

/** A small copy of the outermost level, with a frame around the visible part. Hidden while all of it is visible. */
function Minimap({ scene, onReady, onCenter }: MinimapProps) {
  const map = useRef<HTMLDivElement>(null);
  const frame = useRef<SVGRectElement>(null);
  useEffect(() => {
    onReady(({ x, y, scale }, { width, height }) => {
      const box = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
      const isWhole =
        box.x <= SLACK &&
        box.y <= SLACK &&
        box.x + box.width >= scene.width - SLACK &&
        box.y + box.height >= scene.height - SLACK;
      map.current?.toggleAttribute('data-whole', isWhole);
      for (const [name, value] of Object.entries(box)) frame.current?.setAttribute(name, String(Math.round(value)));
    });
  }, [scene, onReady]);
  const states = scene.charts[0]?.states ?? [];
  return (
    <div
      class="minimap"
      aria-hidden="true"
      ref={map}
      onPointerUp={({ clientX, clientY }) => {
        const matrix = map.current?.querySelector('svg')?.getScreenCTM()?.inverse();
        if (matrix != null) onCenter(new DOMPoint(clientX, clientY).matrixTransform(matrix));
      }}
    >
      <svg aria-hidden="true" viewBox={`0 0 ${scene.width} ${scene.height}`}>
        {states.map((number) => {
          const { box, drawn } = scene.states[number] as Scene['states'][number];
          return <rect key={number} class={drawn.isOpen ? 'open' : ''} {...box} rx={8} />;
        })}
        <rect class="frame" ref={frame} />
      </svg>
    </div>
  );
}

export interface ChartViewProps extends ChartProps {
  /** Must be the same object on each render: changed hues redraw all shapes. */
  readonly hues?: Hues;
  /** Drawings made elsewhere; if given, the page does not lay out the charts itself. */
  readonly laidOut?: LaidOut | undefined;
}

/** Shows the chart as a picture or, without one, as rows. */
export function ChartView({ hues = NO_HUES, laidOut, ...props }: ChartViewProps) {
  const { charts } = props;
  const [layout, setLayout] = useState<(LaidOut & { readonly charts: RunCharts }) | null>(null);
  const baked = useMemo(() => bakedDrawingsOf(charts), [charts]);
  const given = laidOut ?? (layout?.charts === charts ? layout : null);
  const drawings = baked ?? given?.drawings ?? null;

  useEffect(() => {
    if (drawings !== null || laidOut !== undefined) return;
    let isCurrent = true;
    layoutOf(charts).then((done) => {
      if (isCurrent) setLayout({ charts, ...done });
    });
    return () => {
      isCurrent = false;
    };
  }, [charts, drawings, laidOut]);

  return (
    <div class="chart-view">
      {drawings === null ? (
        <ChartRows {...props} status={given?.problem ?? 'Laying out the chart…'} />
      ) : (
        <ChartPicture {...props} drawings={drawings} hues={hues} />
      )}
    </div>
  );
}

interface ChartPictureProps extends ChartProps {
  readonly drawings: Readonly<Record<string, Drawing>>;
  readonly hues: Hues;
}

const NO_HUES: Hues = {};
const NONE_NEVER_TAKEN: ReadonlySet<string> = new Set();

/** Rendered once; highlighting only changes classes. */
function ChartPicture(props: ChartPictureProps) {
  const { drawings, root, marks, onSelect, hues } = props;
  const { selected = null, revealed = null, overlay = null, badges = null, neverTaken = NONE_NEVER_TAKEN } = props;
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const controller = useRef<ChartController | null>(null);
  const listener = useRef(onSelect);
  listener.current = onSelect;
  const [follows, setFollows] = useState(false);
  const showView = useRef<ShowView>(() => {});
  const setShowView = useCallback((show: ShowView) => {
    showView.current = show;
    controller.current?.refresh();
  }, []);
  const scene = useMemo(() => sceneOf(drawings, root), [drawings, root]);
  const shapes = useMemo(() => <ChartShapes scene={scene} chart={0} hues={hues} />, [scene, hues]);

  useLayoutEffect(() => {
    if (svg.current === null || world.current === null) return;
    const created = createChartController(svg.current, world.current, scene, {
      onSelect: (selection) => listener.current?.(selection),
      onFollow: setFollows,
      onView: (view, size) => showView.current(view, size),
    });
    controller.current = created;
    return () => created.stop();
  }, [scene, shapes]);

  // Depends on `shapes` too: a new controller starts without highlights.
  useLayoutEffect(() => {
    const [isSelected, isSelectedLine] = [stateSelector(selected), lineSelector(selected)];
    controller.current?.update({ marks, overlay, badges, neverTaken, isSelected, isSelectedLine });
  }, [shapes, marks, overlay, badges, neverTaken, selected]);

  useLayoutEffect(() => {
    if (revealed !== null) controller.current?.reveal(revealed);
  }, [shapes, revealed]);

  const name = excerpt(root, 80);
  return (
    <div class="chart-picture">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is not a fieldset */}
      <svg
        ref={svg}
        role="group"
        aria-label={`Statechart ${name}. Arrow keys move it, plus and minus zoom, 0 fits it.`}
        tabindex={0}
      >
        <g ref={world}>
          <g role="tree" aria-label={`States of ${name}`}>
            {shapes}
          </g>
        </g>
      </svg>
      {scene.states.length > MIN_SEARCHED && (
        <StateSearch
          scene={scene}
          onFind={(found) => {
            controller.current?.reveal(found);
            onSelect?.(found);
          }}
        />
      )}
      <Minimap scene={scene} onReady={setShowView} onCenter={(point) => controller.current?.center(point)} />
      <div class="chart-tools" role="toolbar" aria-label="Chart">
        <IconButton icon="minus" label="Zoom out" keys="−" onClick={() => controller.current?.zoom(-1)} />
        <IconButton icon="plus" label="Zoom in" keys="+" onClick={() => controller.current?.zoom(1)} />
        <IconButton icon="fit" label="Fit the chart" keys="0" onClick={() => controller.current?.fit()} />
        {!marks.isSum && (
          <IconButton
            icon="target"
            label="Follow the active state"
            isPressed={follows}
            onClick={() => controller.current?.follow(!follows)}
          />
        )}
      </div>
    </div>
  );
}

/** Charts with more states can be searched. */
const MIN_SEARCHED = 20;

function StateSearch({ scene, onFind }: { readonly scene: Scene; readonly onFind: (found: ChartSelection) => void }) {
  const names = useMemo(() => {
    const found = new Map<string, ChartSelection>();
    for (const state of scene.states) {
      const names = [state.drawn.name];
      for (let at = state.parent; at !== null; at = scene.states[at]?.parent ?? null)
        names.unshift(scene.states[at]?.drawn.name ?? '');
      found.set(excerpt(names.join(' › '), 120), { kind: 'state', ...stateRefOf(scene, state) });
    }
    return found;
  }, [scene]);
  const find = (text: string): void => {
    const typed = text.trim().toLowerCase();
    const last = ([path]: readonly [string, unknown]): string => path.split(' › ').at(-1)?.toLowerCase() ?? '';
    const all = [...names];
    const match =
      all.find(([path]) => path === text) ??
      all.find((one) => last(one) === typed) ??
      all.find((one) => last(one).includes(typed));
    if (typed !== '' && match !== undefined) onFind(match[1]);
  };
  return (
    <form
      class="state-search"
      onSubmit={(event) => {
        event.preventDefault();
        find(new FormData(event.currentTarget).get('state') as string);
      }}
    >
      <input
        type="search"
        name="state"
        list="chart-states"
        placeholder="Find a state"
        aria-label="Find a state"
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => names.has(value) && find(value)}
      />
      <datalist id="chart-states">
        {[...names.keys()].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  );
}
