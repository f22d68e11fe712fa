import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  axisEnd,
  cutsOf,
  type Gap,
  gapsOf,
  moved,
  movedTo,
  shareOf,
  type TimeRange,
  ticksOf,
  zoomed,
} from '../../fold/time-axis.ts';
import { MAX_GAP_MS, type TimeLine } from '../../fold/time-line.ts';
import type { TraceRow } from '../../fold/trace-row.ts';
import { oncePerFrame, type PanelView } from '../../ui-state/inspector.ts';
import type { Key } from '../../ui-state/keys.ts';
import { useMeasured } from '../../use-measured.ts';

/** What the time axis shows: all of it, or the part that the user zoomed into. */
export interface Axis extends TimeRange {
  readonly isZoomed: boolean;
  /** The clock. */
  readonly nowMs: number;
  /** Where the ruler ends. */
  readonly untilMs: number;
  readonly gaps: readonly Gap[];
  /** Zooms by a factor; `aroundMs` keeps its place. */
  zoom(factor: number, aroundMs: number): void;
  /** Shows only this part; null shows all. */
  show(range: TimeRange | null): void;
  move(byMs: number): void;
  /** Moves until some of a row is visible. */
  follow(row: TraceRow): void;
  /** The drawn times of a row. */
  timesOf(row: TraceRow): TimeRange;
}

export const ZOOM_KEYS: readonly Key[] = [
  { keys: ['+', '-'], description: 'Zoom the time axis around the row', group: 'Trace' },
  { keys: ['Drag', 'Ctrl+Wheel'], description: 'Zoom the time axis at the pointer', group: 'Trace' },
  { keys: ['Escape', 'Double-click'], description: 'Show the whole time axis', group: 'Trace' },
];

export const ZOOM_FACTORS: Readonly<Record<string, number>> = { '+': 0.5, '=': 0.5, '-': 2 };

/** The time axis of the rows. While nothing is recorded, it grows as far as it will be drawn. */
export function useAxis({ fold: { timeLine, spans }, count }: PanelView, isOver: boolean, sinceMs: number): Axis {
  const [range, show] = useState<TimeRange | null>(null);
  const lastMs = timeLine.drawnMs(Math.max(0, count - 1));
  const isCut = sinceMs > MAX_GAP_MS && spans.calls.every(({ to }) => to !== null);
  const nowMs = lastMs + (isCut ? MAX_GAP_MS : sinceMs);
  const wholeMs = isOver ? Math.max(lastMs, 1) : axisEnd(nowMs);
  const shown = useMemo(() => range ?? { startMs: 0, endMs: wholeMs }, [range, wholeMs]);
  const gaps = useMemo(
    () => [
      ...(isCut ? [{ from: shareOf(shown, lastMs), to: shareOf(shown, nowMs), ms: sinceMs }] : []),
      ...gapsOf(timeLine, shown),
    ],
    [timeLine, isCut, lastMs, nowMs, shown, sinceMs],
  );
  const timesOf = ({ from, to }: TraceRow): TimeRange => ({
    startMs: timeLine.drawnMs(from),
    endMs: to === null ? nowMs : timeLine.drawnMs(to),
  });
  return {
    ...shown,
    isZoomed: range !== null,
    nowMs,
    untilMs: isCut ? Math.min(lastMs, shown.endMs) : shown.endMs,
    gaps,
    timesOf,
    show,
    zoom: (factor, aroundMs) => show(zoomed(shown, factor, aroundMs, wholeMs)),
    move: (byMs) => range !== null && show(moved(range, byMs, wholeMs)),
    follow: (row) => range !== null && show(movedTo(range, timesOf(row), wholeMs)),
  };
}

/** Zooms with Ctrl and the wheel, or a pinch, over the columns of the axis; the wheel also moves a zoomed axis sideways. */
export function useWheelZoom(trace: RefObject<HTMLElement | null>, axis: Axis): void {
  const latest = useRef(axis);
  latest.current = axis;
  useEffect(() => {
    let [factor, byPx, place] = [1, 0, 0];
    const apply = oncePerFrame(() => {
      const { startMs, endMs, zoom, move } = latest.current;
      if (factor !== 1) zoom(factor, startMs + place * (endMs - startMs));
      else move(byPx * (endMs - startMs));
      [factor, byPx] = [1, 0];
    });
    const onWheel = (event: WheelEvent): void => {
      const box = trace.current?.querySelector('.ruler')?.getBoundingClientRect();
      if (box === undefined || box.width === 0) return;
      place = (event.clientX - box.left) / box.width;
      const isSideways = latest.current.isZoomed && Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (place < 0 || place > 1 || !(event.ctrlKey || isSideways)) return;
      event.preventDefault();
      if (event.ctrlKey) factor *= Math.exp(Math.max(-50, Math.min(50, event.deltaY)) / 100);
      else byPx += event.deltaX / box.width;
      apply();
    };
    const element = trace.current;
    // Not passive: the page itself would zoom.
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, []);
}

/** The times of the axis. Dragging over them shows only that part. */
export function Ruler({ timeLine, axis }: { readonly timeLine: TimeLine; readonly axis: Axis }) {
  const ruler = useRef<HTMLSpanElement>(null);
  const axisPx = useMeasured(ruler, 0, ({ clientWidth }) => clientWidth);
  const [dragged, drag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const cuts = cutsOf(axis.gaps, axisPx);
  const marks = axisPx === 0 ? [] : [...ticksOf(timeLine, { ...axis, cuts, axisPx }), ...cuts];
  const placeOf = (event: PointerEvent): number =>
    Math.max(0, Math.min(1, (event.clientX - (ruler.current?.getBoundingClientRect().left ?? 0)) / axisPx));
  const [from, to] =
    dragged === null ? [0, 0] : [Math.min(dragged.from, dragged.to), Math.max(dragged.from, dragged.to)];

  function select(): void {
    drag(null);
    const msAt = (place: number): number => axis.startMs + place * (axis.endMs - axis.startMs);
    if ((to - from) * axisPx > MIN_DRAG_PX && msAt(to) - msAt(from) >= 1)
      axis.show({ startMs: msAt(from), endMs: msAt(to) });
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list has keys for the same
    <span
      ref={ruler}
      class="ruler"
      title="Drag to zoom in, double-click to show all"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag({ from: placeOf(event), to: placeOf(event) });
      }}
      onPointerMove={(event) => dragged !== null && drag({ ...dragged, to: placeOf(event) })}
      onPointerUp={select}
      onPointerCancel={() => drag(null)}
      onDblClick={() => axis.show(null)}
    >
      {marks.map((mark) => (
        <span key={mark.at} class={cuts.includes(mark) ? 'cut' : undefined} style={{ '--at': mark.at }}>
          {mark.label}
        </span>
      ))}
      {to > from && <i class="dragged" style={{ left: `${100 * from}%`, width: `${100 * (to - from)}%` }} />}
    </span>
  );
}

const MIN_DRAG_PX = 4;
