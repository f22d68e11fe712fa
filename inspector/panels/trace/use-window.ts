import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { oncePerFrame } from '../../ui-state/inspector.ts';

/** The visible part is rounded to this, so that few scroll events change it. */
const STEP_PX = 100;
const PAGE_ROWS = 10;

/** Returns the visible part of a list with some margin, in pixels from its top, whatever scrolls it, and a function that measures it again. */
export function useWindow(list: RefObject<HTMLElement | null>) {
  const [part, setPart] = useState({ from: 0, to: 1_200 });
  const measure = (): void => {
    if (list.current === null) return;
    const scroller = scrollerOf(list.current);
    const top = (scroller?.getBoundingClientRect().top ?? 0) - list.current.getBoundingClientRect().top;
    const from = Math.floor(top / STEP_PX - 1) * STEP_PX;
    const to = Math.ceil((top + innerHeight) / STEP_PX + 1) * STEP_PX;
    setPart((before) => (before.from === from && before.to === to ? before : { from, to }));
  };
  useLayoutEffect(() => {
    const soon = oncePerFrame(measure);
    measure();
    document.addEventListener('scroll', soon, { capture: true, passive: true });
    addEventListener('resize', soon);
    // What is around the list changes its place, too, for example a chart that is gone.
    const resized = new ResizeObserver(soon);
    for (const element of [list.current, list.current?.closest('section')]) if (element) resized.observe(element);
    return () => {
      resized.disconnect();
      document.removeEventListener('scroll', soon, { capture: true });
      removeEventListener('resize', soon);
    };
  }, []);
  return [part, measure] as const;
}

/** Scrolls whatever scrolls a list as little as possible, so that this part of it is seen below what sticks to the top. */
export function reveal(list: HTMLElement, top: number, height: number, stickyPx: number): void {
  const scroller = scrollerOf(list);
  if (scroller === null) return;
  const start = list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + top;
  const below = start + height - scroller.clientHeight;
  if (start < stickyPx) scroller.scrollTop += start - stickyPx;
  else if (below > 0) scroller.scrollTop += below + height;
}

/** Calls `show` whenever the area of a list gets another size, until the user scrolls there. Returns a function that stops it. */
export function keepShown(list: HTMLElement, show: () => void): () => void {
  const area = list.closest('section') ?? list;
  const observer = new ResizeObserver(show);
  const listening = new AbortController();
  const stop = (): void => {
    observer.disconnect();
    listening.abort();
  };
  observer.observe(area);
  for (const name of ['wheel', 'touchmove'])
    area.addEventListener(name, stop, { passive: true, signal: listening.signal });
  return stop;
}

export function scrollerOf(list: HTMLElement): HTMLElement | null {
  const scrolls = (element: HTMLElement): boolean =>
    element.scrollHeight > element.clientHeight && getComputedStyle(element).overflowY === 'auto';
  let element = list.parentElement;
  while (element !== null && !scrolls(element)) element = element.parentElement;
  return element;
}

/** The row that a key leads to; null for other keys. */
export function indexAfter(key: string, from: number, size: number): number | null {
  const to: Readonly<Record<string, number>> = {
    ArrowDown: from + 1,
    j: from + 1,
    ArrowUp: from - 1,
    k: from - 1,
    PageDown: from + PAGE_ROWS,
    PageUp: from - PAGE_ROWS,
    Home: 0,
    End: size - 1,
  };
  const next = Object.hasOwn(to, key) ? to[key] : undefined;
  return next === undefined ? null : Math.max(0, Math.min(size - 1, next));
}
