import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Bar, createLanes, type Lane, type Strip } from '../../fold/lanes.ts';
import { binarySearch } from '../../fold/sorted.ts';
import type { Direction } from '../../fold/steps.ts';
import { excerpt } from '../../fold/text.ts';
import { panned, type TimeAxis, type TimeWindow, windowBetween, windowOf, zoomed } from '../../fold/time-axis.ts';
import { type Inspector, oncePerFrame, type RunView } from '../../ui-state/inspector.ts';
import { theme } from '../../ui-state/theme.ts';
import type { PanelProps } from '../panel.tsx';
import { useDrag } from './drag.ts';
import { cleared, drawLanes, drawRuler, LANE_PX, type Paint, RULER_PX, readPaint } from './draw.ts';
import { HoverCard, type Hovered } from './hover-card.tsx';
import type { RangeSelection } from './range.ts';
import { type Scale, scaleOf, spokenPosition, visibleRange } from './scale.ts';

export interface Zoom {
  /** Multiplies its length, around the cursor. */
  by(times: number): void;
  all(): void;
}

/** How far from a bar the pointer still hits it. */
const NEAR_PX = 3;

/** The bar of a lane under the pointer, or the nearest one; null if there is none within a few pixels. */
function barAt(lane: Lane | undefined, scale: Scale, x: number): Bar | null {
  for (const strip of lane?.strips.toReversed() ?? []) {
    const [first, end] = visibleRange(strip, scale.entryAt(x - NEAR_PX), scale.entryAt(x + NEAR_PX));
    let near: Bar | null = null;
    for (let index = end - 1; index >= first; index -= 1) {
      const bar = strip.bar(index);
      const left = scale.xOf(bar.from);
      const right = bar.to === null ? scale.endX : scale.xOf(bar.to);
      if (left <= x && x <= right) return bar;
      if (left - NEAR_PX <= x && x <= right + NEAR_PX) near ??= bar;
    }
    if (near !== null) return near;
  }
  return null;
}

/** The bar of a lane that an entry is part of, the latest if there are several. */
function barAtEntry(lane: Lane | undefined, seq: number): Bar | null {
  for (const strip of lane?.strips.toReversed() ?? []) {
    const [first, end] = visibleRange(strip, seq, seq);
    for (let index = end - 1; index >= first; index -= 1) {
      const bar = strip.bar(index);
      if (bar.to === null || bar.to >= seq) return bar;
    }
  }
  return null;
}

/** The start of the next or previous bar of a lane; without one, the last or first entry of a run with `count`. */
function nextBarIn(lane: Lane | undefined, seq: number, to: Direction, count: number): number {
  const starts = (lane?.strips ?? []).filter(hasLength).flatMap((strip) => {
    const index = to === 1 ? startedBy(strip, seq) : startedBy(strip, seq - 1) - 1;
    return index >= 0 && index < strip.size ? [strip.from(index)] : [];
  });
  return to === 1 ? Math.min(count - 1, ...starts) : Math.max(0, ...starts);
}

const startedBy = (strip: Strip, seq: number): number => binarySearch(strip.size, (index) => strip.from(index) > seq);

/** Decisions and events are moments on top of other bars. */
const hasLength = (strip: Strip): boolean => strip.size > 0 && !['decision', 'event'].includes(strip.bar(0).kind);

function zoomByKey(event: KeyboardEvent, zoom: Zoom): void {
  const acts: Readonly<Record<string, () => void>> = {
    '+': () => zoom.by(0.5),
    '=': () => zoom.by(0.5),
    '-': () => zoom.by(2),
    '0': () => zoom.all(),
  };
  const act = acts[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  act();
}

interface TrackProps extends PanelProps {
  readonly axis: TimeAxis;
  readonly window: Signal<TimeWindow | null>;
  readonly zoom: Zoom;
  readonly range: RangeSelection;
}

const LANE_STEPS: Readonly<Record<string, Direction>> = { ArrowUp: -1, ArrowDown: 1 };
const BAR_STEPS: Readonly<Record<string, Direction>> = { PageUp: -1, PageDown: 1 };

/** Zoom per pixel of wheel movement. */
const wheelZoom = (pixels: number): number => Math.exp(Math.max(-200, Math.min(200, pixels)) / 300);

/**
 * The ruler and the lanes, on canvases. Cursor, selection and range are elements above them, so that
 * moving these redraws nothing.
 */
export function Track({ inspector, view, axis, window, zoom, range }: TrackProps) {
  const box = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const paint = usePaint(box);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  /** The lane that the keys move along; null while the timeline is not used by keyboard. */
  const [keyLane, setKeyLane] = useState<number | null>(null);
  const source = useMemo(() => createLanes(view.fold, view.run.kind), [view.fold]);
  const lanes = useMemo(() => source.lanes(), [source, view.count]);
  const shown = windowOf(window.value, axis.end);
  const scale = useMemo(
    () => scaleOf(axis, shown, width),
    [axis.by, axis.end, shown.from, shown.to, width, view.count],
  );
  const height = lanes.length * LANE_PX;

  useLayoutEffect(() => {
    if (ruler.current === null || bars.current === null || paint === null) return;
    const [rulerOn, barsOn] = [cleared(ruler.current, width, RULER_PX), cleared(bars.current, width, height)];
    if (rulerOn === null || barsOn === null) return;
    drawRuler(rulerOn, view.fold, scale, paint);
    drawLanes(barsOn, view.fold, lanes, scale, paint);
  }, [scale, lanes, paint]);

  useEffect(() => {
    const area = box.current?.parentElement;
    if (keyLane === null || area == null) return;
    const top = keyLane * LANE_PX;
    const visible = area.clientHeight - RULER_PX;
    area.scrollTop = Math.max(top + LANE_PX - visible, Math.min(area.scrollTop, top));
  }, [keyLane]);

  const topOf = (row: number): number => (bars.current?.getBoundingClientRect().top ?? 0) + row * LANE_PX;
  const rowAt = (clientY: number): number => Math.floor((clientY - topOf(0)) / LANE_PX);
  const isOnRuler = (clientY: number): boolean =>
    clientY < (ruler.current?.getBoundingClientRect().bottom ?? Number.NEGATIVE_INFINITY);

  const scrubTo = (x: number): void => {
    const seq = scale.entryAt(x);
    if (view.run.live && seq >= view.count - 1) inspector.cursor.value = null;
    else inspector.moveTo(seq);
  };
  const choose = (bar: Bar): void => {
    if (bar.kind === 'cycle') range.set({ from: bar.from, to: bar.to ?? view.count - 1 });
    else selectBar(inspector, view, bar);
  };
  const pressed = useRef<Bar | null | 'ruler'>(null);
  const drag = useDrag(
    (startX, { clientY }) => {
      pressed.current = isOnRuler(clientY) ? 'ruler' : barAt(lanes[rowAt(clientY)], scale, startX);
      if (pressed.current !== 'ruler') return (x) => range.set(scale.entriesBetween(startX, x));
      scrubTo(startX);
      return scrubTo;
    },
    (isMoved, x) => {
      if (isMoved || pressed.current === 'ruler') return;
      if (pressed.current === null) scrubTo(x);
      else choose(pressed.current);
    },
  );
  useWheel(box, (event) => {
    const { deltaX, deltaY, shiftKey } = event;
    const along = shiftKey ? deltaY : Math.abs(deltaX) > Math.abs(deltaY) ? deltaX : 0;
    const x = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    window.value =
      along === 0
        ? zoomed(window.peek(), axis.end, wheelZoom(deltaY), scale.positionAt(x))
        : panned(window.peek(), axis.end, scale.positionAt(along) - scale.positionAt(0));
  });

  const keyBar = keyLane === null ? null : barAtEntry(lanes[keyLane], view.at);
  const onKeyDown = (event: KeyboardEvent): void => {
    const [laneStep, barStep] = [LANE_STEPS[event.key], BAR_STEPS[event.key]];
    const lane = keyLane ?? 0;
    if (laneStep !== undefined) setKeyLane(Math.max(0, Math.min(lanes.length - 1, lane + laneStep)));
    else if (barStep !== undefined) inspector.moveTo(nextBarIn(lanes[lane], view.at, barStep, view.count));
    else if (event.key === 'Enter' && keyBar !== null) choose(keyBar);
    else if (event.key === 'r') range.mark(view.at);
    else if (event.key === 'Escape' && range.entries.value !== null) range.clear();
    else return void zoomByKey(event, zoom);
    event.preventDefault();
    setHovered(null);
    if (barStep !== undefined) setKeyLane(lane);
  };
  const left = box.current?.getBoundingClientRect().left ?? 0;
  const atKeys = keyBar === null ? null : { bar: keyBar, x: left + scale.xOf(view.at), y: topOf(keyLane ?? 0) };
  const card = hovered ?? atKeys;
  return (
    <div class="lanes">
      <ul class="lane-names" aria-label="Lanes">
        {lanes.map(({ name, depth }, row) => (
          <li key={name} class={`one-line depth-${depth} ${row === keyLane ? 'chosen' : ''}`} title={excerpt(name, 80)}>
            {excerpt(name, 24)}
          </li>
        ))}
      </ul>
      <div
        ref={box}
        class="track"
        role="slider"
        tabIndex={0}
        aria-label="Time"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, view.count - 1)}
        aria-valuenow={view.at}
        aria-valuetext={spokenPosition(view)}
        aria-describedby={card === null ? undefined : 'timeline-card'}
        onKeyDown={onKeyDown}
        onFocus={({ currentTarget }) => {
          if (currentTarget.matches(':focus-visible')) setKeyLane(0);
        }}
        onBlur={() => setKeyLane(null)}
        {...drag}
        onPointerMove={(event) => {
          drag.onPointerMove(event);
          const { clientX, clientY, buttons } = event;
          // While a range is dragged, a card would hide its sums.
          const bar = buttons > 0 || isOnRuler(clientY) ? null : barAt(lanes[rowAt(clientY)], scale, clientX - left);
          setHovered(bar === null ? null : { bar, x: clientX, y: topOf(rowAt(clientY)) });
        }}
        onPointerLeave={() => setHovered(null)}
        onDblClick={() => {
          if (hovered === null) return;
          const { from, to } = hovered.bar;
          const end = to === null ? axis.end : axis.positionOf(to);
          window.value = windowBetween(axis.positionOf(from), end, axis.end);
        }}
      >
        <canvas ref={ruler} class="ruler" />
        <canvas ref={bars} class="bars" />
        <Outlines view={view} lanes={lanes} scale={scale} range={range} />
        <Cursor x={scale.xOf(view.at)} scale={scale} />
      </div>
      {card !== null && <HoverCard view={view} hovered={card} />}
    </div>
  );
}

/** Selects the step of a bar. Other activities have no step of their own: the cursor moves to their end. */
function selectBar({ select, moveTo }: Inspector, { count }: RunView, bar: Bar): void {
  const { kind, from, stateId } = bar;
  // The transition at the end of a state already leads to the next one.
  const to = bar.to === null ? count - 1 : kind === 'state' ? Math.max(from, bar.to - 1) : bar.to;
  if (kind === 'cycle' || kind === 'wait' || kind === 'event' || kind === 'call') moveTo(kind === 'wait' ? from : to);
  else select({ kind, from, to, ...(stateId !== undefined && { stateId }) });
}

interface OutlinesProps {
  readonly view: RunView;
  readonly lanes: readonly Lane[];
  readonly scale: Scale;
  readonly range: RangeSelection;
}

const LANES_OF: Readonly<Record<string, number>> = { phase: 1, attempt: 2, retrieval: 3, capability: 4 };

function Outlines({ view: { run, selection }, lanes, scale, range }: OutlinesProps) {
  const lane = run.kind === 'run' ? LANES_OF[selection.kind] : undefined;
  const entries = range.entries.value;
  const across = (from: number, to: number) => {
    const [left, right] = [Math.max(-4, scale.xOf(from)), Math.min(scale.width + 4, scale.xOf(to))];
    return right < -3 || left > scale.width + 3 ? null : { left, width: Math.max(2, right - left) };
  };
  const chosen = lane === undefined ? null : across(selection.from, selection.to);
  const between = entries === null ? null : across(entries.from, entries.to);
  return (
    <>
      {between !== null && <div class="range" style={boxAt(between, 0, RULER_PX + lanes.length * LANE_PX)} />}
      {chosen !== null && <div class="chosen-bar" style={boxAt(chosen, RULER_PX + (lane ?? 0) * LANE_PX, LANE_PX)} />}
    </>
  );
}

/** Placed by a transform, so that it moves without a new layout. */
const boxAt = ({ left, width }: { readonly left: number; readonly width: number }, top: number, height: number) => ({
  transform: `translate(${left}px, ${top}px)`,
  width: `${width}px`,
  height: `${height}px`,
});

const MOVE_MS = 150;
/** Shorter movements are not animated. */
const JUMP_PX = 8;

/** Glides to a new position, unless the lanes move too or the user prefers reduced motion. */
function Cursor({ x, scale }: { readonly x: number; readonly scale: Scale }) {
  const line = useRef<HTMLDivElement>(null);
  const before = useRef({ x, scale });
  useLayoutEffect(() => {
    const { x: start, scale: last } = before.current;
    before.current = { x, scale };
    if (last !== scale || Math.abs(x - start) < JUMP_PX || matchMedia('(prefers-reduced-motion: reduce)').matches)
      return;
    line.current?.animate([{ transform: `translateX(${start}px)` }, { transform: `translateX(${x}px)` }], MOVE_MS);
  }, [x, scale]);
  return <div ref={line} class="cursor" style={{ transform: `translateX(${x}px)` }} />;
}

function useWidth(box: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(oncePerFrame(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** Handles the wheel in place of scrolling. */
function useWheel(box: RefObject<HTMLDivElement | null>, turn: (event: WheelEvent) => void): void {
  const now = useRef(turn);
  now.current = turn;
  useEffect(() => {
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      now.current(event);
    };
    box.current?.addEventListener('wheel', onWheel, { passive: false });
    return () => box.current?.removeEventListener('wheel', onWheel);
  }, []);
}

/** The theme colors of an element, updated when the theme changes. Null before it is mounted. */
function usePaint(box: RefObject<HTMLDivElement | null>): Paint | null {
  const [paint, setPaint] = useState<Paint | null>(null);
  const selected = theme.value;
  useLayoutEffect(() => {
    const read = (): void => {
      if (box.current !== null) setPaint(readPaint(box.current));
    };
    read();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', read);
    return () => dark.removeEventListener('change', read);
  }, [selected]);
  return paint;
}
