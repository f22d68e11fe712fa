import type { Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createLanes } from '../../fold/lanes.ts';
import type { Direction } from '../../fold/steps.ts';
import type { TimeAxis } from '../../fold/time-axis.ts';
import { panned, type TimeWindow, windowOf, zoomed } from '../../fold/time-window.ts';
import { oncePerFrame } from '../../ui-state/frame.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';
import { CYCLES_PX, MARKS_PX } from './draw-marks.ts';
import { LANE_PX } from './draw-strip.ts';
import { drawTimeline } from './draw-timeline.ts';
import type { Moves } from './moves.ts';
import { pointedAt } from './pointed.ts';
import { positionSaid } from './position.ts';
import { scaleOf } from './scale.ts';
import { usePaint } from './use-paint.ts';
import { useScrub } from './use-scrub.ts';

interface TrackProps extends PanelProps {
  readonly axis: TimeAxis;
  readonly window: Signal<TimeWindow | null>;
  readonly pointed: Signal<string>;
  readonly moves: Moves;
}

const CYCLE_KEYS: Readonly<Record<string, Direction>> = { PageUp: -1, PageDown: 1 };

/** What a wheel's turn of so many pixels does to the part that is seen. */
const zoomOf = (pixels: number): number => Math.exp(Math.max(-200, Math.min(200, pixels)) / 300);

/** The lanes, drawn; the cursor lies over them, so that they are drawn again only where they change. */
export function Track({ inspector, view, axis, window, pointed, moves }: TrackProps) {
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
        ? zoomed(window.peek(), axis.end, zoomOf(deltaY), scale.placeAt(x))
        : panned(window.peek(), axis.end, scale.placeAt(along) - scale.placeAt(0));
  };
  useEffect(() => {
    const turn = (event: WheelEvent): void => wheel.current(event);
    box.current?.addEventListener('wheel', turn, { passive: false });
    return () => box.current?.removeEventListener('wheel', turn);
  }, []);

  const cursorX = scale.xOf(view.at);
  return (
    <div class="lanes">
      <ul class="lane-names" aria-label="Lanes">
        {lanes.map(({ name }) => (
          <li key={name}>{shortly(name, 24)}</li>
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
        aria-valuetext={positionSaid(view)}
        onKeyDown={(event) => {
          const to = CYCLE_KEYS[event.key];
          if (to === undefined) return;
          event.preventDefault();
          moves.cycle(to);
        }}
        {...scrub}
        onPointerMove={(event) => {
          scrub.onPointerMove(event);
          pointed.value = pointedAt(view.fold, lanes, scale, event.offsetX, event.offsetY);
        }}
        onPointerLeave={() => {
          pointed.value = '';
        }}
      >
        <canvas ref={canvas} />
        <div class="cursor" style={{ transform: `translateX(${cursorX}px)`, height: `${height}px` }} />
      </div>
    </div>
  );
}
