import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { oncePerFrame } from '../../ui-state/inspector.ts';

/** The visible part is rounded to this, so that few scroll events change it. */
const STEP_PX = 100;

interface VisiblePart {
  readonly from: number;
  readonly to: number;
}

/** Returns the visible part of a list with some margin, in pixels from its top, whatever scrolls it, and a function that measures it again. */
export function useWindow(list: RefObject<HTMLElement | null>): readonly [VisiblePart, () => void] {
  const [part, setPart] = useState<VisiblePart>({ from: 0, to: 1_200 });
  const measure = (): void => {
    const top = -(list.current?.getBoundingClientRect().top ?? 0);
    const from = Math.floor(top / STEP_PX - 1) * STEP_PX;
    const to = Math.ceil((top + innerHeight) / STEP_PX + 1) * STEP_PX;
    setPart((before) => (before.from === from && before.to === to ? before : { from, to }));
  };
  useLayoutEffect(() => {
    const soon = oncePerFrame(measure);
    measure();
    document.addEventListener('scroll', soon, { capture: true, passive: true });
    addEventListener('resize', soon);
    return () => {
      document.removeEventListener('scroll', soon, { capture: true });
      removeEventListener('resize', soon);
    };
  }, []);
  return [part, measure];
}

/** Returns the part that is visible after scrolling to a row at `top`. */
export function partWith({ from, to }: VisiblePart, top: number): VisiblePart {
  const before = top < from ? 2 * STEP_PX : to - from - 2 * STEP_PX;
  return top >= from && top < to ? { from, to } : { from: top - before, to: top - before + to - from };
}

/** Scrolls whatever scrolls a list as little as possible, so that this part of it is seen below what sticks to the top. */
export function reveal(list: HTMLElement, top: number, height: number, stickyPx: number): void {
  let scroller = list.parentElement;
  while (scroller !== null && (scroller.scrollHeight <= scroller.clientHeight || !scrolls(scroller)))
    scroller = scroller.parentElement;
  if (scroller === null) return;
  const start = list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + top;
  const below = start + height - scroller.clientHeight;
  if (start < stickyPx) scroller.scrollTop += start - stickyPx;
  else if (below > 0) scroller.scrollTop += below + height;
}

const scrolls = (element: Element): boolean => getComputedStyle(element).overflowY === 'auto';
