import type { Camera } from './camera.ts';
import { panBy, type Viewport, zoomAt } from './viewport.ts';

/** A press that moves less than this is a click. */
const CLICK_REACH = 4;
const WHEEL_STEP = 0.0016;

/** Dragging pans, the wheel and two fingers zoom at their place. Returns how to stop listening. */
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
    // It was let go where the picture did not hear of it.
    if (event.buttons === 0) {
      release(event);
      return;
    }
    const now = at(event);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved < CLICK_REACH) return;
    // Only now: a press that is captured would click on the whole picture.
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
    const way = Math.max(-240, Math.min(240, event.deltaY * lines * pinch));
    onMove(zoomAt(camera.view(), Math.exp(-way * WHEEL_STEP), at(event)));
  };
  const click = (event: MouseEvent): void => {
    if (moved >= CLICK_REACH) event.stopPropagation();
  };
  svg.addEventListener('pointerdown', press);
  svg.addEventListener('pointermove', drag);
  svg.addEventListener('pointerup', release);
  svg.addEventListener('pointercancel', release);
  svg.addEventListener('wheel', wheel, { passive: false });
  svg.addEventListener('click', click, { capture: true });
  return () => {
    svg.removeEventListener('pointerdown', press);
    svg.removeEventListener('pointermove', drag);
    svg.removeEventListener('pointerup', release);
    svg.removeEventListener('pointercancel', release);
    svg.removeEventListener('wheel', wheel);
    svg.removeEventListener('click', click, { capture: true });
  };
}
