import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatDuration, formatTime } from '../../fold/format.ts';
import { createLanes, type Lane } from '../../fold/lanes.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import type { Direction } from '../../fold/steps.ts';
import { excerpt } from '../../fold/text.ts';
import { panned, type TimeAxis, type TimeWindow, windowOf, zoomed } from '../../fold/time-axis.ts';
import { oncePerFrame } from '../../ui-state/inspector.ts';
import { theme } from '../../ui-state/theme.ts';
import type { PanelProps } from '../panel.tsx';
import {
  CYCLES_PX,
  drawCycles,
  drawGaps,
  drawMarks,
  drawStrip,
  LANE_PX,
  MARKS_PX,
  type Paint,
  readPaint,
} from './draw.ts';
import type { Moves } from './moves.ts';
import { type Scale, scaleOf, spokenPosition, visibleRange } from './scale.ts';

interface TrackProps extends PanelProps {
  readonly axis: TimeAxis;
  readonly window: Signal<TimeWindow | null>;
  readonly hoverText: Signal<string>;
  readonly moves: Moves;
}

const CYCLE_KEYS: Readonly<Record<string, Direction>> = { PageUp: -1, PageDown: 1 };

/** Zoom per pixel of wheel movement. */
const zoomOf = (pixels: number): number => Math.exp(Math.max(-200, Math.min(200, pixels)) / 300);

/** The lanes on a canvas. The cursor is a separate element, so that moving it does not redraw them. */
export function Track({ inspector, view, axis, window, hoverText, moves }: TrackProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const paint = usePaint(box);
  const source = useMemo(() => createLanes(view.fold, view.run.kind), [view.fold]);
  const lanes = useMemo(() => source.lanes(), [source, view.count]);
  const shown = windowOf(window.value, axis.end);
  const scale = useMemo(
    () => scaleOf(axis, shown, width),
    [axis.by, axis.end, shown.from, shown.to, width, view.count],
  );
  const height = CYCLES_PX + MARKS_PX + lanes.length * LANE_PX;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(oncePerFrame(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (canvas.current !== null && paint !== null) drawTimeline(canvas.current, view.fold, lanes, scale, height, paint);
  }, [scale, lanes, paint, height]);

  const scrub = useScrub(box, scale, (seq) => {
    if (view.run.live && seq >= view.count - 1) inspector.cursor.value = null;
    else inspector.moveTo(seq);
  });

  const wheel = useRef<(event: WheelEvent) => void>(() => {});
  wheel.current = (event) => {
    event.preventDefault();
    const { deltaX, deltaY, shiftKey } = event;
    const along = shiftKey ? deltaY : Math.abs(deltaX) > Math.abs(deltaY) ? deltaX : 0;
    const x = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    window.value =
      along === 0
        ? zoomed(window.peek(), axis.end, zoomOf(deltaY), scale.positionAt(x))
        : panned(window.peek(), axis.end, scale.positionAt(along) - scale.positionAt(0));
  };
  useEffect(() => {
    const onWheel = (event: WheelEvent): void => wheel.current(event);
    box.current?.addEventListener('wheel', onWheel, { passive: false });
    return () => box.current?.removeEventListener('wheel', onWheel);
  }, []);

  const cursorX = scale.xOf(view.at);
  return (
    <div class="lanes">
      <ul class="lane-names" aria-label="Lanes">
        {lanes.map(({ name }) => (
          <li key={name}>{excerpt(name, 24)}</li>
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
        onKeyDown={(event) => {
          const to = CYCLE_KEYS[event.key];
          if (to === undefined) return;
          event.preventDefault();
          moves.cycle(to);
        }}
        {...scrub}
        onPointerMove={(event) => {
          scrub.onPointerMove(event);
          hoverText.value = hoverTextAt(view.fold, lanes, scale, event.offsetX, event.offsetY);
        }}
        onPointerLeave={() => {
          hoverText.value = '';
        }}
      >
        <canvas ref={canvas} />
        <div class="cursor" style={{ transform: `translateX(${cursorX}px)`, height: `${height}px` }} />
      </div>
    </div>
  );
}

/** Draws everything but the cursor. The cost depends on what is visible, not on the length of the run. */
function drawTimeline(
  canvas: HTMLCanvasElement,
  fold: RunFold,
  lanes: readonly Lane[],
  scale: Scale,
  height: number,
  paint: Paint,
): void {
  const on = canvas.getContext('2d');
  if (on === null || scale.width === 0) return;
  fitTo(canvas, scale.width, height);
  const dots = devicePixelRatio;
  on.setTransform(dots, 0, 0, dots, 0, 0);
  on.clearRect(0, 0, scale.width, height);
  on.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  on.textBaseline = 'middle';
  drawRows(on, lanes.length, scale.width, paint);
  drawCycles(on, fold, scale, height, paint);
  lanes.forEach(({ strips }, row) => {
    for (const strip of strips) drawStrip(on, strip, scale, CYCLES_PX + MARKS_PX + row * LANE_PX, paint);
  });
  drawGaps(on, fold, scale, height, paint);
  drawMarks(on, fold, scale, paint);
}

function drawRows(on: CanvasRenderingContext2D, rows: number, width: number, paint: Paint): void {
  on.fillStyle = paint.line;
  on.globalAlpha = 0.5;
  for (let row = 0; row <= rows; row += 1) on.fillRect(0, CYCLES_PX + MARKS_PX + row * LANE_PX - 0.5, width, 1);
  on.globalAlpha = 1;
}

/** Setting the size clears a canvas, so it is set only if it changed. */
function fitTo(canvas: HTMLCanvasElement, width: number, height: number): void {
  const [across, down] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

const NEAR_PX = 3;

/** Describes what is under the pointer in one line. */
function hoverTextAt(fold: RunFold, lanes: readonly Lane[], scale: Scale, x: number, y: number): string {
  const seq = scale.entryAt(x);
  const head = `entry ${seq} · ${formatTime(fold.timeLine.atMs(seq))}`;
  const lane = lanes[Math.floor((y - CYCLES_PX - MARKS_PX) / LANE_PX)];
  if (y < CYCLES_PX + MARKS_PX || lane === undefined)
    return `${head} · ${markAt(fold, scale, x) ?? fold.entries.typeOf(seq)}`;
  return `${head} · ${lane.name}: ${barAt(fold, lane, scale, x) ?? 'nothing'}`;
}

function markAt({ entries }: RunFold, scale: Scale, x: number): string | null {
  const until = scale.entryAt(x + NEAR_PX);
  for (const type of ['delivery', 'decision'] as const) {
    const seq = lastUpTo(entries.of(type), until);
    if (seq !== undefined && Math.abs(scale.xOf(seq) - x) <= NEAR_PX + 1) return `${type} (entry ${seq})`;
  }
  return null;
}

function barAt({ timeLine }: RunFold, lane: Lane, scale: Scale, x: number): string | null {
  const from = scale.entryAt(x - NEAR_PX);
  const until = scale.entryAt(x + NEAR_PX);
  for (const strip of lane.strips.toReversed()) {
    const [first, end] = visibleRange(strip, from, until);
    for (let index = end - 1; index >= first; index -= 1) {
      const bar = strip.bar(index);
      if ((bar.to ?? Number.MAX_SAFE_INTEGER) < from) continue;
      const startMs = timeLine.atMs(bar.from);
      const took = bar.to === null ? 'in progress' : formatDuration(timeLine.atMs(bar.to) - startMs);
      const failure = bar.failure === null ? [] : [`failed, ${bar.failure}`];
      return excerpt([bar.label, `from ${formatTime(startMs)}`, took, ...failure].join(', '), 200);
    }
  }
  return null;
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

/** Moves the cursor with a pressed pointer, at most once per frame. */
function useScrub(box: RefObject<HTMLDivElement | null>, scale: Scale, moveTo: (seq: number) => void) {
  const now = useRef({ scale, moveTo, clientX: 0, isHeld: false });
  Object.assign(now.current, { scale, moveTo });
  return useMemo(() => {
    const drag = now.current;
    const move = oncePerFrame(() => {
      const left = box.current?.getBoundingClientRect().left ?? 0;
      drag.moveTo(drag.scale.entryAt(drag.clientX - left));
    });
    const release = (): void => {
      drag.isHeld = false;
    };
    return {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        box.current?.setPointerCapture(event.pointerId);
        Object.assign(drag, { isHeld: true, clientX: event.clientX });
        move();
      },
      onPointerMove(event: PointerEvent) {
        if (!drag.isHeld) return;
        drag.clientX = event.clientX;
        move();
      },
      onPointerUp: release,
      onPointerCancel: release,
    };
  }, []);
}
