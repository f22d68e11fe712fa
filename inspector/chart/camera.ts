import type { Box } from './drawing.ts';
import { LEGIBLE } from './label-text.ts';

const MOVE_MS = 180;

/** Pans and zooms the picture by changing one transform attribute; nothing is redrawn. */
interface Camera {
  readonly view: () => Viewport;
  readonly size: () => WindowSize;
  /** Jumps, or animates unless the user prefers reduced motion. */
  readonly go: (to: Viewport, how?: 'jump' | 'animate') => void;
  readonly stop: () => void;
}

/** `onView` is called with every new viewport. */
export function createCamera(
  svg: SVGSVGElement,
  world: SVGGElement,
  picture: WindowSize,
  onView: (view: Viewport, size: WindowSize) => void,
): Camera {
  let now: Viewport = { x: 0, y: 0, scale: 1 };
  let frame = 0;
  const size = (): WindowSize => ({ width: svg.clientWidth, height: svg.clientHeight });
  const show = (view: Viewport): void => {
    now = view;
    onView(view, size());
    world.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
  };
  const stop = (): void => cancelAnimationFrame(frame);
  const go = (target: Viewport, how: 'jump' | 'animate' = 'jump'): void => {
    stop();
    const to = keepVisible(target, picture, size());
    if (how === 'jump' || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      show(to);
      return;
    }
    const from = now;
    let began: number | null = null;
    const move = (time: number): void => {
      began ??= time;
      const share = Math.min(1, (time - began) / MOVE_MS);
      show(share === 1 ? to : between(from, to, 1 - (1 - share) ** 3));
      if (share < 1) frame = requestAnimationFrame(move);
    };
    frame = requestAnimationFrame(move);
  };
  return { view: () => now, size, go, stop };
}

/** Maps the picture to its window: a point is drawn at `x + scale * point.x`. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface WindowSize {
  readonly width: number;
  readonly height: number;
}

/** The outermost level is always legible: what does not fit is outside the window. */
const MIN_SCALE = LEGIBLE;
const MAX_SCALE = 2_000;
const MARGIN = 4;
/** Reserved for the toolbar. */
const TOP = 44;

/** The viewport that shows a box as large as possible, centered below the toolbar; a larger box fills the window from its start. */
export function fitTo(box: Box, size: WindowSize, maxScale = 1.6, minScale = 0): Viewport {
  const room = { width: Math.max(1, size.width - 2 * MARGIN), height: Math.max(1, size.height - TOP - MARGIN) };
  const scale = clamp(
    Math.max(minScale, Math.min(room.width / Math.max(1, box.width), room.height / Math.max(1, box.height), maxScale)),
  );
  const start = (from: number, length: number, at: number, space: number): number =>
    at + Math.max(0, space - scale * length) / 2 - scale * from;
  return { scale, x: start(box.x, box.width, MARGIN, room.width), y: start(box.y, box.height, TOP, room.height) };
}

/** Zooms; the picture point under `at` stays there. */
export function zoomAt(
  { x, y, scale }: Viewport,
  factor: number,
  at: { readonly x: number; readonly y: number },
): Viewport {
  const next = clamp(scale * factor);
  const share = next / scale;
  return { scale: next, x: at.x - share * (at.x - x), y: at.y - share * (at.y - y) };
}

export function panBy(view: Viewport, x: number, y: number): Viewport {
  return { ...view, x: view.x + x, y: view.y + y };
}

/** The nearest viewport that shows all of a box; unchanged if it is already visible. */
export function bringIntoView(view: Viewport, box: Box, size: WindowSize): Viewport {
  const shift = (from: number, length: number, min: number, max: number): number => {
    if (length > max - min) return (min + max) / 2 - from - length / 2;
    if (from < min) return min - from;
    return Math.min(0, max - from - length);
  };
  const { x, y, scale } = view;
  return panBy(
    view,
    shift(x + scale * box.x, scale * box.width, MARGIN, size.width - MARGIN),
    shift(y + scale * box.y, scale * box.height, TOP, size.height - MARGIN),
  );
}

export function keepVisible(view: Viewport, picture: WindowSize, size: WindowSize): Viewport {
  const clampTo = (at: number, length: number, room: number): number => Math.min(room - 40, Math.max(40 - length, at));
  return {
    ...view,
    x: clampTo(view.x, view.scale * picture.width, size.width),
    y: clampTo(view.y, view.scale * picture.height, size.height),
  };
}

function between(from: Viewport, to: Viewport, share: number): Viewport {
  const mix = (one: number, other: number): number => one + (other - one) * share;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), scale: mix(from.scale, to.scale) };
}

const clamp = (scale: number): number => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));

/** A press that moves less than this is a click. */
const CLICK_REACH = 4;
const WHEEL_STEP = 0.0016;

/** Dragging pans; the wheel and two fingers zoom at the pointer. Returns a function that stops listening. */
export function listenToPointers(svg: SVGSVGElement, camera: Camera, onMove: (to: Viewport) => void): () => void {
  const down = new Map<number, { readonly x: number; readonly y: number }>();
  let moved = 0;
  const at = ({ clientX, clientY }: MouseEvent): { readonly x: number; readonly y: number } => {
    const { left, top } = svg.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    if (down.size === 0) moved = 0;
    down.set(event.pointerId, at(event));
  };
  const drag = (event: PointerEvent): void => {
    const before = down.get(event.pointerId);
    if (before === undefined) return;
    // The button was released outside the picture.
    if (event.buttons === 0) {
      release(event);
      return;
    }
    const now = at(event);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved < CLICK_REACH) return;
    // Not on press: capturing then would turn every click into a click on the whole picture.
    if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    svg.classList.add('dragged');
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    down.set(event.pointerId, now);
    if (other === undefined) {
      onMove(panBy(camera.view(), now.x - before.x, now.y - before.y));
      return;
    }
    const apart = (point: typeof now): number => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
    onMove(zoomAt(camera.view(), apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }));
  };
  const release = (event: PointerEvent): void => {
    down.delete(event.pointerId);
    if (down.size === 0) svg.classList.remove('dragged');
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const pinch = event.ctrlKey ? 6 : 1;
    const delta = Math.max(-240, Math.min(240, event.deltaY * lines * pinch));
    onMove(zoomAt(camera.view(), Math.exp(-delta * WHEEL_STEP), at(event)));
  };
  const click = (event: MouseEvent): void => {
    if (moved >= CLICK_REACH) event.stopPropagation();
  };
  const listening = new AbortController();
  const { signal } = listening;
  svg.addEventListener('pointerdown', press, { signal });
  svg.addEventListener('pointermove', drag, { signal });
  svg.addEventListener('pointerup', release, { signal });
  svg.addEventListener('pointercancel', release, { signal });
  svg.addEventListener('wheel', wheel, { signal, passive: false });
  svg.addEventListener('click', click, { signal, capture: true });
  return () => listening.abort();
}
