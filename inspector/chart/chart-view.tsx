import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import './chart.css';
import './chart-marks.css';
import './chart-overlay.css';
import './chart-details.css';
import './chart-tools.css';
import './chart-rows.css';
import type { Marks } from '../fold/marks.ts';
import { type ChartController, createChartController } from './chart-controller.ts';
import { ChartShapes, type Hues } from './chart-shapes.tsx';
import { ChartTools } from './chart-tools.tsx';
import type { Drawing, LaidOut } from './drawing.ts';
import { heatMark, type Overlay } from './highlight.ts';
import { bakedDrawingsOf, layoutOf } from './layout.ts';
import { MOST_ROWS, type Row, rowsOf } from './row-list.ts';
import { type Choice, isChosenLine, isChosenState, sceneOf } from './scene.ts';
import { shownText } from './state-box.ts';

export interface ChartViewProps extends ChartRowsProps {
  readonly hues?: Hues;
  /** Drawings made elsewhere; if given, the page does not lay out the charts itself. */
  readonly laidOut?: LaidOut | undefined;
}

/** The chart as a picture, or as rows if there is no picture or the user prefers rows. */
export function ChartView({ hues, laidOut, ...props }: ChartViewProps) {
  const { charts } = props;
  const [made, setMade] = useState<Made | null>(null);
  const [rows, setRows] = useState(false);
  const baked = useMemo(() => bakedDrawingsOf(charts), [charts]);
  const given = laidOut ?? (made?.charts === charts ? made : null);
  const ready = baked ?? given?.drawings ?? null;
  const problem = given?.problem ?? null;

  useEffect(() => {
    if (ready !== null || laidOut !== undefined) return;
    let isWanted = true;
    const set = (done: LaidOut): void => {
      if (isWanted) setMade({ charts, ...done });
    };
    layoutOf(charts).then(
      (drawings) => set({ drawings, problem: null }),
      (error: Error) => set({ drawings: null, problem: error.message }),
    );
    return () => {
      isWanted = false;
    };
  }, [charts, ready, laidOut]);

  const inRows = rows || ready === null;
  return (
    <div class="chart-view">
      {inRows ? (
        <ChartRows {...props} />
      ) : (
        <ChartPicture {...props} drawings={ready} {...(hues === undefined ? {} : { hues })} />
      )}
      <div class="chart-kind">
        {ready === null ? (
          <p role="status">{problem ?? 'Laying out the chart…'}</p>
        ) : (
          <button type="button" aria-pressed={rows} onClick={() => setRows(!rows)}>
            Rows
          </button>
        )}
      </div>
    </div>
  );
}

interface Made extends LaidOut {
  readonly charts: RunCharts;
}

interface ChartPictureProps extends ChartProps {
  readonly drawings: Readonly<Record<string, Drawing>>;
  /** The same object each time: other hues are other shapes. */
  readonly hues?: Hues;
}

const NO_HUES: Hues = {};

/** The picture of a chart. It is rendered once; highlighting only changes classes. */
function ChartPicture({
  drawings,
  root,
  marks,
  chosen = null,
  sought = null,
  onChoose,
  overlay = null,
  neverTaken = NONE_NEVER_TAKEN,
  hues = NO_HUES,
}: ChartPictureProps) {
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const controller = useRef<ChartController | null>(null);
  const listener = useRef(onChoose);
  listener.current = onChoose;
  const [follows, setFollows] = useState(false);
  const scene = useMemo(() => sceneOf(drawings, root), [drawings, root]);
  const shapes = useMemo(() => <ChartShapes scene={scene} chart={0} hues={hues} />, [scene, hues]);

  useLayoutEffect(() => {
    if (svg.current === null || world.current === null) return;
    const created = createChartController(svg.current, world.current, scene, {
      onChoose: (choice) => listener.current?.(choice),
      onFollow: setFollows,
    });
    controller.current = created;
    return () => created.stop();
  }, [scene, shapes]);

  // A new controller is dark.
  useLayoutEffect(() => {
    const [isChosen, isLine] = [isChosenState(chosen), isChosenLine(chosen)];
    controller.current?.light({ marks, overlay, neverTaken, isChosen, isChosenLine: isLine });
  }, [shapes, marks, overlay, neverTaken, chosen]);

  useLayoutEffect(() => {
    if (sought !== null) controller.current?.seek(sought);
  }, [shapes, sought]);

  const name = shownText(root, 80);
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
          <path class="jump" d="" />
        </g>
      </svg>
      <ChartTools
        follows={follows}
        onFollow={marks.isSum ? null : () => controller.current?.follow(!follows)}
        onZoom={(way) => controller.current?.zoom(way)}
        onFit={() => controller.current?.fit()}
      />
    </div>
  );
}

interface ChartRowsProps extends ChartProps {
  readonly charts: RunCharts;
}

/** The chart in rows: for charts without a picture, and for those who would rather read. */
function ChartRows(props: ChartRowsProps) {
  const { charts, root, marks, chosen = null, onChoose, overlay = null, neverTaken = NONE_NEVER_TAKEN } = props;
  const { sought = null } = props;
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (sought !== null && place.current !== null) scrollToChosen(place.current);
  }, [sought]);
  const rows = useMemo(() => rowsOf(charts, root, marks, neverTaken), [charts, root, marks, neverTaken]);
  return (
    <div class="chart-rows" ref={place}>
      <ul aria-label={`States of ${shownText(root, 80)}`}>
        {rows.map((row) => (
          <StateRow
            key={row.key}
            row={row}
            heat={heatMark(overlay, row)?.text ?? ''}
            chosen={chosen}
            onChoose={onChoose}
          />
        ))}
      </ul>
      {rows.length >= MOST_ROWS && <p>Only the first {MOST_ROWS} states are shown.</p>}
    </div>
  );
}

interface StateRowProps {
  readonly row: Row;
  readonly heat: string;
  readonly chosen: Choice | null;
  readonly onChoose: ((choice: Choice) => void) | undefined;
}

function StateRow({ row, heat, chosen, onChoose }: StateRowProps) {
  const { chartId, stateId, isActive, isLeaf, isLastTarget } = row;
  const isChosen = chosen?.kind === 'state' && chosen.chartId === chartId && chosen.stateId === stateId;
  const chosenWays = chosen?.kind === 'transitions' && chosen.chartId === chartId ? chosen.transitions : [];
  const classes = [isActive && 'active', isLeaf && 'leaf', isLastTarget && 'last', isChosen && 'chosen'];
  return (
    <li class={classes.filter(Boolean).join(' ')} style={{ '--level': Math.min(row.level, 12) }}>
      <button
        type="button"
        title={shownText(row.description, 300)}
        aria-current={isLeaf ? 'step' : undefined}
        aria-pressed={isChosen}
        onClick={() => onChoose?.({ kind: 'state', chartId, stateId })}
      >
        {shownText(row.name, 60)}
        {isActive && <span class="unseen">, active</span>}
      </button>
      {heat !== '' && <span class="heat">{shownText(heat, 18)}</span>}
      <span class="ways">
        {row.transitions.map(({ place, text, taken, isLast, isNever }) => (
          <button
            type="button"
            key={place}
            class={wayClasses({ taken: taken > 0, last: isLast, never: isNever, chosen: chosenWays.includes(place) })}
            aria-pressed={chosenWays.includes(place)}
            onClick={() => onChoose?.({ kind: 'transitions', chartId, transitions: [place] })}
          >
            {shownText(text, 80)}
            {taken > 0 && ` ×${taken}`}
            {isLast && <span class="unseen">, just now</span>}
          </button>
        ))}
      </span>
    </li>
  );
}

/** Scrolls only the rows, not the page around them. */
function scrollToChosen(place: HTMLElement): void {
  const chosen = place.querySelector('.chosen')?.getBoundingClientRect();
  if (chosen === undefined) return;
  const { top, height } = place.getBoundingClientRect();
  place.scrollTop += chosen.top + chosen.height / 2 - top - height / 2;
}

const wayClasses = (which: Readonly<Record<string, boolean>>): string =>
  Object.keys(which)
    .filter((name) => which[name])
    .join(' ');

/** What is shown of a chart, as a picture or in rows. */
interface ChartProps {
  /** The chart on top. */
  readonly root: string;
  readonly marks: Marks;
  readonly chosen?: Choice | null;
  /** What is to come into sight: each time that it is another object. */
  readonly sought?: Choice | null;
  readonly onChoose?: (choice: Choice) => void;
  readonly overlay?: Overlay | null;
  /** As `transitionKey` names them. */
  readonly neverTaken?: ReadonlySet<string>;
}

const NONE_NEVER_TAKEN: ReadonlySet<string> = new Set();
