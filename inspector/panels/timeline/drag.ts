import { useMemo, useRef } from 'preact/hooks';
import { oncePerFrame } from '../../ui-state/inspector.ts';

/** Called with the position of the pointer in the element, in pixels. */
type Move = (x: number) => void;

/** Handles dragging with the primary button: `begin` returns what to do on each move, at most once per frame. */
export function useDrag(
  begin: (x: number, event: PointerEvent) => Move,
  end: (isMoved: boolean, x: number) => void = () => {},
) {
  const now = useRef({ begin, end });
  now.current = { begin, end };
  return useMemo(() => {
    let move: Move | null = null;
    let [x, startX] = [0, 0];
    const step = oncePerFrame(() => move?.(x));
    const xIn = ({ currentTarget, clientX }: PointerEvent): number =>
      clientX - (currentTarget as Element).getBoundingClientRect().left;
    const release = (event: PointerEvent): void => {
      if (move === null) return;
      x = xIn(event);
      const isMoved = Math.abs(x - startX) >= MOVED_PX;
      if (isMoved) move(x);
      move = null;
      if (event.type === 'pointerup') now.current.end(isMoved, x);
    };
    return {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        startX = xIn(event);
        x = startX;
        move = now.current.begin(x, event);
      },
      onPointerMove(event: PointerEvent) {
        if (move === null) return;
        x = xIn(event);
        if (Math.abs(x - startX) >= MOVED_PX) step();
      },
      onPointerUp: release,
      onPointerCancel: release,
    };
  }, []);
}

/** Shorter movements are a click. */
const MOVED_PX = 4;
