import { LinkButton } from '../../link-button.tsx';
import './trace.css';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatDuration } from '../../fold/format.ts';
import { countUpTo } from '../../fold/sorted.ts';
import { entriesOfSelection } from '../../fold/state-visit.ts';
import { isOver as isRunOver } from '../../fold/step-title.ts';
import { systemTrace } from '../../fold/system-trace.ts';
import { traceOf } from '../../fold/trace.ts';
import { type ListedRow, listedRows, rowPathTo, rowsIn, type TraceRow } from '../../fold/trace-row.ts';
import { waitingAt } from '../../fold/user-events.ts';
import { isLoading, type PanelView } from '../../ui-state/inspector.ts';
import { type Key, useKeys } from '../../ui-state/keys.ts';
import { chartSelection } from '../../ui-state/layout.ts';
import { isNarrow } from '../../ui-state/media.ts';
import { useMeasured } from '../../use-measured.ts';
import type { PanelProps } from '../panel.tsx';
import { heightOf, type Moment, Row } from './row.tsx';
import { type Axis, Ruler, useAxis, ZOOM_FACTORS, ZOOM_KEYS, ZoomButtons } from './time-axis.tsx';
import { useClock } from './use-clock.ts';
import { indexAfter, keepShown, reveal, useWindow } from './use-window.ts';

/** Up to this many cycles are all open. */
const MAX_OPEN = 4;
/** The height of what sticks to the top. */
const HEAD_PX = 92;
/** A narrower trace needs two lines for some sentences. */
const NARROW_PX = 560;

const TRACE_KEYS: readonly Key[] = [
  { keys: ['ArrowUp', 'ArrowDown', 'k', 'j'], description: 'Select the row above or below', group: 'Trace' },
  { keys: ['Enter', ' '], description: 'Open or close the row', group: 'Trace' },
  { keys: ['PageUp', 'PageDown'], description: 'Ten rows up or down', group: 'Trace' },
  { keys: ['Home', 'End'], description: 'First or last row', group: 'Trace' },
];

/** Rows that matter are visible at first: tools, waits, limits, and all that failed or was tried again. */
const matters = ({ kind, status, isRetry = false }: TraceRow): boolean =>
  kind === 'tool' || kind === 'wait' || kind === 'limit' || status === 'failed' || isRetry;

function isOpenAtFirst(row: TraceRow, top: readonly TraceRow[]): boolean {
  switch (row.kind) {
    case 'actor':
      return true;
    case 'cycle':
      return top.includes(row) && (top.length <= MAX_OPEN || row === top.findLast(({ kind }) => kind === 'cycle'));
    case 'phase':
    case 'answer':
      return rowsIn(row).some(matters);
    default:
      return false;
  }
}

const rowsOf = ({ run, log, fold, charts, count }: PanelView, isOver: boolean): readonly TraceRow[] =>
  run.kind === 'system' ? systemTrace({ log, fold, charts, count, isOver }) : traceOf(log, fold, count, isOver);

/** The rows with their places in the list: `tops` has one more, the height of the list. */
function placed(rows: readonly ListedRow[], narrowPx: number | null) {
  const tops = [0];
  for (const row of rows) tops.push((tops.at(-1) ?? 0) + heightOf(row, narrowPx));
  return { rows, shown: new Map(rows.map(({ row }, index) => [row.id, index])), tops };
}

/** Whether a run waits for its user, and whether nothing more will happen in it. A run that waits continues when it is answered. */
function stageOf(view: PanelView): Pick<Moment, 'isOver' | 'isWaiting'> {
  const { run, log, fold, count, end } = view;
  const isWaiting = run.status !== 'damaged' && waitingAt(log, fold, count - 1) !== null;
  // What an interrupted actor had not finished starts again when it continues.
  const isEnded = (run.kind === 'run' && end !== null) || isRunOver(run) || run.status === 'interrupted';
  return { isWaiting, isOver: isEnded && !isWaiting && run.status !== 'waiting' && !isLoading(view) };
}

export function Trace({ inspector, view }: PanelProps) {
  const { run, fold } = view;
  const { spans } = fold;
  const { isWaiting, isOver } = stageOf(view);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const list = useRef<HTMLDivElement>(null);
  const narrowPx = useMeasured<number | null>(list, null, ({ clientWidth }) =>
    clientWidth < NARROW_PX ? clientWidth : null,
  );
  const sinceMs = useClock(view);
  useKeys([...TRACE_KEYS, ...ZOOM_KEYS]);

  const rows = useRows(inspector, view, { isOver, toggled, narrowPx });
  const selectedRow = rows.rows[rows.shown.get(rows.selected ?? '') ?? -1]?.row;
  const axis = useAxis(view, isOver, sinceMs);
  const moment = { view, isOver, isWaiting, sinceMs, scale: axis.scale };

  function toggle({ row, isOpen }: ListedRow): void {
    setToggled((before) => new Map(before).set(row.id, isOpen !== true));
  }

  const price = spans.currency;
  const hasTokens = run.kind === 'run' || spans.attempts.length > 0;
  return (
    <div
      class={`trace${hasTokens ? '' : ' tokenless'}${run.kind === 'system' ? ' system' : ''}${narrowPx !== null ? ' narrow' : ''}${price === null ? ' unpriced' : ''}`}
    >
      <TraceHead {...{ inspector, view, axis, hasTokens }} row={selectedRow} />
      {rows.rows.length === 0 && <p class="muted">{isOver ? 'Nothing was recorded.' : 'Nothing has started yet.'}</p>}
      <TraceList inspector={inspector} moment={moment} axis={axis} rows={rows} list={list} onToggle={toggle} />
    </div>
  );
}

type Rows = ReturnType<typeof useRows>;

interface TraceListProps {
  readonly inspector: PanelProps['inspector'];
  readonly moment: Moment;
  readonly axis: Axis;
  readonly rows: Rows;
  readonly list: RefObject<HTMLDivElement | null>;
  readonly onToggle: (row: ListedRow) => void;
}

/** The rows; only visible ones are rendered. One is active: keys move it. */
function TraceList({ inspector, moment, axis, rows: shownRows, list, onToggle }: TraceListProps) {
  const { rows, shown, tops, selected } = shownRows;
  const [active, setActive] = useState<string | null>(null);
  const current = shown.get(active ?? '') ?? shown.get(selected ?? '') ?? 0;
  const activeId = rows[current]?.row.id;
  // Other keys and the chart select rows, too.
  useLayoutEffect(() => setActive(null), [selected]);
  const { visible, show } = useVisibleRows(inspector, moment, shownRows, list);
  const { fold, charts, count } = moment.view;
  const inChart = chartSelection.value;
  const marked = useMemo(
    () => (inChart === null || charts === null ? [] : [...entriesOfSelection(fold.transitions, charts, inChart)]),
    [inChart, fold, charts, count],
  );

  function choose(row: TraceRow): void {
    setActive(row.id);
    chartSelection.value = null;
    if (row.selection !== null) inspector.select(row.selection);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = indexAfter(event.key, current, rows.length);
    const item = rows[current];
    const factor = ZOOM_FACTORS[event.key];
    if (to !== null) {
      const chosen = rows[to]?.row;
      if (chosen !== undefined) choose(chosen);
      show(to);
    } else if ((event.key === 'Enter' || event.key === ' ') && item !== undefined) {
      if (item.isOpen === null) choose(item.row);
      else onToggle(item);
    } else if (factor !== undefined && item !== undefined) {
      axis.zoom(factor, axis.middleOf(item.row));
    } else if (event.key === 'Escape' && axis.isZoomed) axis.show(null);
    else return;
    event.preventDefault();
  }

  return (
    <div
      ref={list}
      class="trace-list"
      role="tree"
      tabIndex={0}
      aria-label="Trace"
      aria-activedescendant={visible.some(({ item }) => item.row.id === activeId) ? `trace-${activeId}` : undefined}
      style={{ height: `${tops.at(-1)}px` }}
      onKeyDown={onKeyDown}
      onBlur={() => setActive(null)}
    >
      {visible.map(({ item, index, key }) => (
        <Row
          key={key}
          {...item}
          moment={moment}
          top={tops[index] ?? 0}
          height={(tops[index + 1] ?? 0) - (tops[index] ?? 0)}
          isSelected={item.row.id === selected}
          isActive={item.row.id === activeId}
          isMarked={
            item.row.moves !== undefined && marked.some((seq) => seq >= item.row.from && seq <= (item.row.to ?? seq))
          }
          onSelect={() => (item.row.selection === null ? onToggle(item) : choose(item.row))}
          onToggle={() => onToggle(item)}
        />
      ))}
    </div>
  );
}

/** The rows to render with their keys, and a function that scrolls to a row. */
function useVisibleRows(
  inspector: TraceListProps['inspector'],
  { view: { run } }: Moment,
  { rows, shown, tops, selected }: Rows,
  list: TraceListProps['list'],
) {
  const selectedIndex = shown.get(selected ?? '') ?? -1;
  // What has ended opens at its beginning. Otherwise, the current row stays in view until the user scrolls.
  // A narrow page scrolls as a whole, to the chosen step.
  const isGrowing = run.kind === 'system' || run.live;
  const isFollowing = selectedIndex >= 0 && (inspector.cursor.value !== null || isGrowing) && !isNarrow.value;
  const [seen, measure] = useWindow(list);
  function show(index: number): void {
    if (list.current !== null)
      reveal(list.current, tops[index] ?? 0, (tops[index + 1] ?? 0) - (tops[index] ?? 0), HEAD_PX);
  }
  const showSelected = useRef(() => {});
  showSelected.current = () => show(selectedIndex);
  const revealed = useRef(selected);
  // Scrolls before it renders: rows that this scrolls away are not rendered, and the layout is computed once. New entries seldom scroll far.
  if (isFollowing && !isGrowing && revealed.current !== selected) {
    show(selectedIndex);
    measure();
  }
  revealed.current = selected;
  useLayoutEffect(() => {
    if (!isFollowing || list.current === null) return undefined;
    showSelected.current();
    measure();
    // The chart is drawn later, and then takes room from the trace.
    return keepShown(list.current, () => showSelected.current());
  }, [selected, isGrowing ? selectedIndex : 0]);

  const first = Math.max(0, countUpTo(tops, seen.from) - 1);
  const shownRows = rows.slice(first, countUpTo(tops, seen.to - 1));
  const slots = useRef(0);
  slots.current = Math.max(slots.current, shownRows.length);
  const visible = shownRows.map((item, at) => {
    const index = first + at;
    // Rows that come into view take over elements of those that left. In a run that grows, they would count as layout shifts; on a narrow page,
    // the row to which "Back to the trace" returns would lose the focus.
    return { item, index, key: isGrowing || isNarrow.value ? item.row.id : index % slots.current };
  });
  // The selected row is always rendered, so that the page can return to it.
  const item = rows[selectedIndex];
  if (item !== undefined && !shownRows.includes(item))
    visible[selectedIndex < first ? 'unshift' : 'push']({ item, index: selectedIndex, key: item.row.id });
  return { visible, show };
}

interface Shown {
  readonly isOver: boolean;
  readonly toggled: ReadonlyMap<string, boolean>;
  readonly narrowPx: number | null;
}

function useRows(inspector: PanelProps['inspector'], view: PanelView, { isOver, toggled, narrowPx }: Shown) {
  const { fold, count, selection } = view;
  // The rows of an actor show what changed in its states.
  const states = view.run.kind === 'system' ? view.stateCount : 0;
  const top = useMemo(() => rowsOf(view, isOver), [fold, count, isOver, view.charts, states]);
  const path = useMemo(() => rowPathTo(top, selection), [top, selection]);
  // What contains the selection is opened once, and stays open: closing it would move the rows below.
  const opened = useRef(new Set<string>());
  for (const { id } of path.slice(0, -1)) if (inspector.cursor.value !== null) opened.current.add(id);
  const isOpen = (row: TraceRow): boolean =>
    toggled.get(row.id) ?? (opened.current.has(row.id) || isOpenAtFirst(row, top));
  const list = useMemo(() => placed(listedRows(top, isOpen), narrowPx), [top, toggled, opened.current.size, narrowPx]);
  return { ...list, selected: path.findLast(({ id }) => list.shown.has(id))?.id ?? null };
}

interface TraceHeadProps extends PanelProps {
  /** The selected row: the buttons of an actor zoom around it. */
  readonly row: TraceRow | undefined;
  readonly axis: Axis;
  readonly hasTokens: boolean;
}

function TraceHead({ inspector, view, row, axis, hasTokens }: TraceHeadProps) {
  const { run, fold, at, count } = view;
  const isAtEnd = at >= count - 1;
  const atMs = isAtEnd ? axis.scale.msAt(0.5) : fold.timeLine.drawnMs(at);
  const aroundMs = run.kind === 'system' && row !== undefined ? axis.middleOf(row) : atMs;
  const price = fold.spans.currency;
  const title = (name: string, text: string) => <span {...{ class: name, 'aria-hidden': true }}>{text}</span>;
  return (
    <div class="trace-head">
      <div class="row">
        <h2>What happened</h2>
        <p class="position row small" data-at={at} data-count={count}>
          {!isAtEnd && <span class="muted">at {formatDuration(fold.timeLine.wallMs(at) - axis.zeroMs)}</span>}
          {(!isAtEnd || (run.live && inspector.cursor.value !== null)) && (
            <LinkButton onClick={() => inspector.moveTo(null)}>
              {run.live ? 'Follow the run' : 'Go to the end'}
            </LinkButton>
          )}
        </p>
      </div>
      <div class="trace-columns">
        <ZoomButtons axis={axis} aroundMs={aroundMs} />
        <Ruler view={view} axis={axis} />
        {title('time', run.kind === 'system' ? 'Lasted' : 'Time')}
        {hasTokens && title('tokens', 'Tokens')}
        {price !== null && title('price', `Cost, ${price}`)}
        {run.kind === 'system' && title('when', 'When')}
      </div>
    </div>
  );
}
