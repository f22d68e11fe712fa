import type { Signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { formatDuration } from '../../fold/format.ts';
import type { Lane } from '../../fold/lanes.ts';
import { panned, type TimeAxis, type TimeWindow, windowBetween, windowOf } from '../../fold/time-axis.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { useDrag } from './drag.ts';
import { cleared, drawOverview, OVERVIEW_PX, type Paint } from './draw.ts';
import { scaleOf } from './scale.ts';
import { type Zoom, zoomByKey } from './zoom.ts';

interface OverviewProps {
  readonly view: RunView;
  readonly axis: TimeAxis;
  readonly window: Signal<TimeWindow | null>;
  readonly lanes: readonly Lane[];
  readonly width: number;
  readonly paint: Paint | null;
  readonly zoom: Zoom;
}

/** How near to an edge of the visible part the pointer moves that edge. */
const EDGE_PX = 6;

/** The whole run in one strip, with the visible part: dragging it scrolls, dragging its edges or the rest zooms. */
export function Overview({ view, axis, window, lanes, width, paint, zoom }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = useMemo(() => scaleOf(axis, windowOf(null, axis.end), width), [axis.by, axis.end, width, view.count]);
  useLayoutEffect(() => {
    if (canvas.current === null || paint === null) return;
    const on = cleared(canvas.current, width, OVERVIEW_PX);
    if (on !== null) drawOverview(on, view.fold, scale, lanes, paint);
  }, [scale, lanes, paint]);

  const shown = windowOf(window.value, axis.end);
  const [left, right] = [scale.xAt(shown.from), scale.xAt(shown.to)];
  const drag = useDrag((startX) => {
    const start = scale.positionAt(startX);
    const edge = [shown.to, shown.from].findIndex((position) => Math.abs(scale.xAt(position) - startX) <= EDGE_PX);
    const fixed = [shown.from, shown.to][edge];
    const isInside = startX > left && startX < right;
    const set = (one: number, other: number): void => {
      window.value = windowBetween(one, other, axis.end);
    };
    if (window.peek() === null && fixed === undefined) return (x) => set(start, scale.positionAt(x));
    if (window.peek() !== null && fixed !== undefined) return (x) => set(fixed, scale.positionAt(x));
    const middle = (shown.from + shown.to) / 2;
    const from = isInside ? window.peek() : panned(window.peek(), axis.end, start - middle);
    window.value = from;
    return (x) => {
      window.value = panned(from, axis.end, scale.positionAt(x) - start);
    };
  });

  return (
    <div
      class="overview"
      role="slider"
      tabIndex={0}
      aria-label="Visible part of the run"
      aria-valuemin={0}
      aria-valuemax={Math.round(axis.end)}
      aria-valuenow={Math.round(shown.from)}
      aria-valuetext={spokenWindow(view, axis, window.value)}
      title="Drag to choose the visible part; Page Up and Page Down scroll, + and − zoom, 0 shows the whole run"
      onKeyDown={(event) => zoomByKey(event, zoom)}
      {...drag}
    >
      <canvas ref={canvas} />
      {window.value !== null && (
        <>
          <div class="hidden-part" style={{ left: 0, width: `${Math.max(0, left)}px` }} />
          <div class="hidden-part" style={{ left: `${right}px`, right: 0 }} />
          <div class="visible-part" style={{ left: `${left}px`, width: `${Math.max(2, right - left)}px` }} />
        </>
      )}
    </div>
  );
}

function spokenWindow({ fold: { timeLine } }: RunView, axis: TimeAxis, window: TimeWindow | null): string {
  if (window === null) return 'the whole run';
  const [from, to] = [window.from, window.to].map((at) => formatDuration(timeLine.atMs(axis.entryAt(at))));
  return `from ${from} to ${to}`;
}
