import type { RefObject } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { oncePerFrame } from '../../ui-state/frame.ts';
import type { Scale } from './scale.ts';

/** Moves the cursor along with a pointer that is held down, once a frame at most. */
export function useScrub(box: RefObject<HTMLDivElement | null>, scale: Scale, moveTo: (seq: number) => void) {
  const now = useRef({ scale, moveTo, clientX: 0, isHeld: false });
  Object.assign(now.current, { scale, moveTo });
  return useMemo(() => {
    const held = now.current;
    const move = oncePerFrame(() => {
      const left = box.current?.getBoundingClientRect().left ?? 0;
      held.moveTo(held.scale.entryAt(held.clientX - left));
    });
    const letGo = (): void => {
      held.isHeld = false;
    };
    return {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        box.current?.setPointerCapture(event.pointerId);
        Object.assign(held, { isHeld: true, clientX: event.clientX });
        move();
      },
      onPointerMove(event: PointerEvent) {
        if (!held.isHeld) return;
        held.clientX = event.clientX;
        move();
      },
      onPointerUp: letGo,
      onPointerCancel: letGo,
    };
  }, []);
}
