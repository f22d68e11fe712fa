import './chart.css';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { copyKey } from '../fold/chart-copies.ts';
import { ancestorsOf, descendantsOf, indexChart } from '../fold/chart-index.ts';
import { isOwnChart } from '../fold/chart-words.ts';
import { pluralize } from '../fold/format.ts';
import { excerpt } from '../fold/text.ts';
import { IconButton } from '../icon.tsx';
import { LinkButton } from '../link-button.tsx';
import { useMeasured } from '../use-measured.ts';
import { ChartLegend } from './chart-legend.tsx';
import { ChartList } from './chart-list.tsx';
import {
  activePath,
  ChartPicture,
  type ChartViewProps,
  type KnownMarks,
  MARGIN,
  marksOfCopy,
  type ShownLevel,
} from './chart-picture.tsx';
import { type Drawing, type DrawnLevel, type DrawnState, type LaidOut, ownOf } from './drawing.ts';
import { FONT, LEGIBLE } from './label-text.ts';
import { bakedDrawingsOf, layoutOf } from './layout.ts';
import { outermost, overviewOf, partOf } from './overview.ts';

/** Shows a chart one level at a time; states with inner states or machines open as the next. If it cannot be laid out, shows a list. */
export function ChartView(props: ChartViewProps) {
  const { charts, root, aspect } = props;
  const [layout, setLayout] = useState<(LaidOut & { readonly charts: RunCharts }) | null>(null);
  const baked = useMemo(() => bakedDrawingsOf(charts), [charts]);
  const given = layout?.charts === charts ? layout : null;
  const drawings = baked ?? given?.drawings ?? null;

  // Before the first paint, because the layout may be known already.
  useLayoutEffect(() => {
    if (baked !== null) return undefined;
    return layoutOf({ ...charts, aspect }, (done) => {
      setLayout({ charts, ...done });
    });
  }, [charts, baked, aspect]);

  if (drawings !== null && ownOf(drawings, root) !== undefined)
    return <Levels key={root} {...props} drawings={drawings} />;
  return (
    <div class="chart-as-list">
      <p class="muted" role="status">
        {given?.problem ?? 'Drawing the chart…'}
      </p>
      {given !== null && <ChartList {...props} />}
    </div>
  );
}

const ZOOM_STEP = 1.25;
const MAX_FIT = 1.25;

interface LevelsProps extends ChartViewProps {
  readonly drawings: Readonly<Record<string, Drawing>>;
}

type Space = Readonly<Record<'width' | 'height', number>>;

const spaceOf = ({ clientWidth, clientHeight }: Element): Space => ({ width: clientWidth, height: clientHeight });

/** A level of another program opens whole if its texts then have at least 9 px: small text is better than a chart that is cut off. */
const SMALLEST = 9 / FONT.label;

/** Returns the scale that shows a whole level, and the one at which it opens: with readable texts, and if possible with its largest state whole. */
function scalesOf(level: DrawnLevel | undefined, space: Space, chartId: string) {
  const fitOf = (boxes: readonly Space[]): number =>
    Math.min(
      ...boxes.flatMap(({ width, height }) => [
        space.width / (width + 2 * MARGIN),
        space.height / (height + 2 * MARGIN),
      ]),
    );
  const whole = Math.min(MAX_FIT, fitOf(level === undefined ? [] : [level]));
  const readable = Math.max(LEGIBLE, whole);
  const smallest = isOwnChart(chartId) ? LEGIBLE : SMALLEST;
  const opened = [whole, fitOf(level?.states.filter(({ isOpen }) => isOpen) ?? [])].find((scale) => scale >= smallest);
  return { whole, opened: Math.min(opened ?? readable, readable) };
}

/** Returns the level inside a state; null if there is none. */
function levelInside({ charts, drawings }: LevelsProps, place: ShownLevel, stateId: string): ShownLevel | null {
  const { chartId, copy } = place;
  const chart = charts.charts.find(({ id }) => id === chartId);
  const state = chart === undefined ? undefined : indexChart(chart).state(stateId);
  if (state === undefined) return null;
  const name = state.name;
  if (ownOf(ownOf(drawings, chartId) ?? {}, stateId) !== undefined)
    return { chartId, level: stateId, copy, name, host: stateId };
  const inner = state.invokes
    .map((actor) => ownOf(charts.invoked, actor))
    .find((id) => id !== undefined && ownOf(drawings, id) !== undefined);
  return inner === undefined
    ? null
    : { chartId: inner, level: inner, copy: copyKey(inner, { chartId, stateId }), name, host: stateId };
}

interface LevelPathProps {
  readonly path: readonly ShownLevel[];
  readonly goTo: (path: readonly ShownLevel[]) => void;
}

const LevelPath = ({ path, goTo }: LevelPathProps) => (
  <nav aria-label="Level of the chart">
    {path.map(({ name, level }, index) =>
      index === path.length - 1 ? (
        <b key={level} aria-current="location">
          {excerpt(name, 40)}
        </b>
      ) : (
        <span key={level}>
          <LinkButton onClick={() => goTo(path.slice(0, index + 1))}>{excerpt(name, 40)}</LinkButton>
          {' › '}
        </span>
      ),
    )}
  </nav>
);

type Zoom = number | 'whole';

/** The choice of all groups. */
const ALL = '';

interface GroupsProps {
  readonly groups: readonly DrawnState[];
  readonly known: KnownMarks;
  readonly shown: string;
  readonly choose: (id: string) => void;
}

/** The outermost states of a chart that is too large to be shown with all its states: each can be shown with its inside. */
const Groups = ({ groups, known, shown, choose }: GroupsProps) => (
  <fieldset class="chart-groups" aria-label="Groups of states">
    <button type="button" aria-pressed={shown === ALL} onClick={() => choose(ALL)}>
      Whole chart
      <span class="muted">{pluralize(known.index.states.length - groups.length - 1, 'state')}</span>
    </button>
    {groups.map(({ id }) => {
      const count = descendantsOf(known.index, id).length - 1;
      const words = [count > 0 && pluralize(count, 'state'), known.visited.has(id) && 'visited'].filter(Boolean);
      return (
        <button
          key={id}
          type="button"
          class={known.active.has(id) ? 'active' : known.visited.has(id) ? '' : 'never'}
          aria-pressed={shown === id}
          onClick={() => choose(id)}
        >
          <b>{excerpt(known.index.state(id)?.name ?? id, 24)}</b>
          <span>{known.active.has(id) ? activePath(id, known) || 'active' : words.join(', ') || 'not visited'}</span>
        </button>
      );
    })}
  </fieldset>
);

interface ChartToolsProps {
  readonly scale: number;
  readonly whole: number;
  /** A button above the chart shows all of it. */
  readonly isSplit: boolean;
  readonly setZoom: (zoom: Zoom) => void;
  /** The button of the size. */
  readonly children: ComponentChildren;
}

const ChartTools = ({ scale, whole, isSplit, setZoom, children }: ChartToolsProps) => (
  <div class="chart-tools">
    <IconButton icon="plus" label="Zoom in" keys="+" onClick={() => setZoom(scale * ZOOM_STEP)} />
    <IconButton icon="minus" label="Zoom out" keys="−" onClick={() => setZoom(scale / ZOOM_STEP)} />
    {scale > whole && !isSplit && (
      <IconButton icon="whole" label="Whole chart" keys="0" onClick={() => setZoom('whole')} />
    )}
    {children}
    <ChartLegend />
  </div>
);

function Levels(props: LevelsProps) {
  const { charts, root, marks, selected } = props;
  const [path, setPath] = useState<readonly ShownLevel[]>([
    { chartId: root, level: root, copy: root, name: root, host: '' },
  ]);
  /** Null for the scale at which a level opens. */
  const [zoom, setZoomTo] = useState<Zoom | null>(null);
  /** The group that is shown, or `ALL`; null for that of the active state. */
  const [chosen, choose] = useState<string | null>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const space = useMeasured<Space>(scroll, { width: 800, height: 500 }, spaceOf);
  /** The text about a selected state takes space, but the chart keeps its size. */
  const spaceUnselected = useMeasured<Space>(scroll, space, (element) => {
    const [view, all] = ['.chart-view', '.noted-chart'].map((name) => spaceOf(element.closest(name) ?? element)) as [
      Space,
      Space,
    ];
    const { width, height } = spaceOf(element);
    return {
      width: width + Math.max(0, all.width - view.width),
      height: height + Math.max(0, all.height - view.height),
    };
  });
  const place = path.at(-1) as ShownLevel;
  const all = ownOf(ownOf(props.drawings, place.chartId) ?? {}, place.level);

  const known = marksOfCopy(charts, marks, place.chartId, place.copy);
  const groups = all === undefined || known === null || isOwnChart(place.chartId) ? [] : outermost(all, known);
  const isSplit =
    groups.length > 1 &&
    groups.some(({ isOpen }) => isOpen) &&
    scalesOf(all, spaceUnselected, place.chartId).whole < SMALLEST;
  const group = isSplit ? (chosen ?? groups.find(({ id }) => known?.active.has(id))?.id ?? groups[0]?.id ?? ALL) : ALL;
  const level = all !== undefined && known !== null && group !== ALL ? partOf(all, known, group) : all;
  const isOverview = isSplit && group === ALL;
  const { whole } = scalesOf(level, space, place.chartId);
  const { opened } = scalesOf(level, spaceUnselected, place.chartId);
  const scale = zoom === 'whole' || isOverview ? whole : (zoom ?? opened);
  const show = (id: string): void => {
    choose(id);
    setZoomTo(null);
  };
  const setZoom = (to: Zoom): void => {
    if (isSplit && to === 'whole') show(ALL);
    else if (isOverview) choose(null);
    else setZoomTo(to);
  };
  /** The level and the size that were shown before: when a level opens, the chart around its active state is visible on all sides. */
  const centered = useRef('');
  useLayoutEffect(() => {
    const shown = ['.state.selected', '.edge.selected > .behind', '.state.ringed:not(.open)', '.leaf'];
    // Transitions without a line are listed in the box that was clicked.
    const selector = shown
      .slice(0, selected?.kind === 'transitions' ? 2 : 4)
      .find((one) => scroll.current?.querySelector(one));
    const picture = `${place.copy} ${place.level} ${group} ${scale}`;
    const isNew = centered.current !== picture;
    if (scroll.current !== null && selector !== undefined)
      bringIntoView(scroll.current, selector, isNew, selected === null && isNew && zoom === null);
    centered.current = picture;
  }, [marks, path, level, scale, selected]);

  /** The focus follows into a state, and back to it; if that is not drawn any more, to the state around it. */
  const focusNext = useRef<string | null>(null);
  const focused = scroll.current?.contains(document.activeElement) ? document.activeElement : null;
  useLayoutEffect(() => {
    const next = focusNext.current ?? focused?.getAttribute('data-state') ?? null;
    focusNext.current = null;
    if (next === null) return;
    const states = [...(scroll.current?.querySelectorAll<SVGGElement>('[data-state]') ?? [])];
    const chart = charts.charts.find(({ id }) => id === place.chartId);
    const around = chart === undefined ? [] : ancestorsOf(indexChart(chart), next);
    const found = around.map(({ id }) => states.find((state) => state.getAttribute('data-state') === id));
    (found.find((state) => state !== undefined) ?? states[0])?.focus({ preventScroll: true });
  }, [path, level]);
  const goTo = (next: readonly ShownLevel[]): void => {
    focusNext.current = path[next.length]?.host ?? '';
    setPath(next);
    choose(null);
    setZoomTo(null);
  };
  const insideOf = (stateId: string): ShownLevel | null => levelInside(props, place, stateId);
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') setZoom(scale * ZOOM_STEP);
    else if (event.key === '-') setZoom(scale / ZOOM_STEP);
    else if (event.key === '0') setZoom('whole');
    else if (event.key === 'Escape' && path.length > 1) goTo(path.slice(0, -1));
    else return;
    event.preventDefault();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its states have the focus; the keys are also buttons
    <div class="chart-view" onKeyDown={press}>
      {path.length > 1 && <LevelPath path={path} goTo={goTo} />}
      {isSplit && known !== null && <Groups groups={groups} known={known} shown={group} choose={show} />}
      <ChartTools scale={scale} whole={whole} isSplit={isSplit} setZoom={setZoom}>
        {props.resize}
      </ChartTools>
      <div class={`chart-scroll${scale > whole ? ' zoomed' : ''}`} ref={scroll}>
        {level !== undefined && known !== null && (
          <ChartPicture
            key={`${place.copy} ${place.level} ${group}`}
            {...props}
            known={known}
            place={place}
            onSelect={(one) => (isOverview && one.kind === 'state' ? show(one.stateId) : props.onSelect(one))}
            {...(isOverview ? overviewOf(level, known, scale) : { level, scale })}
            hasInside={(id) => insideOf(id) !== null}
            onOpen={(id) => {
              const inside = insideOf(id);
              if (inside !== null) goTo([...path, inside]);
            }}
          />
        )}
      </div>
    </div>
  );
}

/** Focuses the selected or active state of the picture. */
export function focusChart(): void {
  const picture = document.querySelector('.chart-picture');
  const at = ['.selected', '.ringed', '.leaf', ''].map((mark) => picture?.querySelector<SVGGElement>(`.state${mark}`));
  at.find((state) => state != null)?.focus({ preventScroll: true });
}

/** Room for the states at the ends of a line. */
const ENDS_PX = 90;

/** Scrolls this element, but not the page, to a state or a line; without `isCentered`, only if part of it is hidden. */
function bringIntoView(element: HTMLElement, selector: string, isAtOnce: boolean, isCentered: boolean): void {
  const view = element.getBoundingClientRect();
  const label = element.querySelector(selector);
  const line = label?.closest('.edge')?.querySelector('.line')?.getBoundingClientRect();
  const ends = line && new DOMRect(line.x - ENDS_PX, line.y, line.width + 2 * ENDS_PX, line.height);
  const isSmall = ends !== undefined && ends.width < view.width && ends.height < view.height;
  const box = isSmall ? ends : label?.getBoundingClientRect();
  if (box === undefined) return;
  /** How far to scroll along one axis. */
  const distance = (start: 'left' | 'top', end: 'right' | 'bottom'): number => {
    if (box[start] >= view[start] && box[end] <= view[end] && !isCentered) return 0;
    return (box[start] + box[end] - view[start] - view[end]) / 2;
  };
  const [left, top] = [distance('left', 'right'), distance('top', 'bottom')];
  element.scrollBy({ left, top, behavior: isAtOnce ? 'instant' : 'auto' });
}
