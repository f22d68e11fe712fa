import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { oncePerFrame } from '../../ui-state/inspector.ts';

export const ROW_PX = 18;
/** Rows rendered beyond each end of the visible part. */
const SPARE = 4;
/** Rows that are kept between the cursor and an end. */
const MARGIN = 2;
/** A row that is hidden by no more than this is in sight. */
const SLACK_PX = 4;
/** Until it is measured. */
const FIRST_HEIGHT = 360;

export interface SeenRows {
  readonly first: number;
  readonly end: number;
  /** Whole rows that fit. */
  readonly page: number;
  /** Brings a row into sight. */
  show(place: number): void;
}

/**
 * Which rows of a list are to be there. The list scrolls itself to a row whenever `key` changes, unless `mayStay` and the reader has scrolled
 * away from it. `box` is what scrolls.
 */
export function useRows(
  box: RefObject<HTMLDivElement | null>,
  { size, place, key, mayStay }: { size: number; place: number; key: unknown; mayStay: boolean },
): SeenRows {
  const [height, setHeight] = useState(FIRST_HEIGHT);
  const [, again] = useState(0);
  const top = useRef(0);
  const stands = useRef(0);
  const seen = useRef<unknown>(null);
  const isAway = useRef(false);
  const most = Math.max(0, size * ROW_PX - height);

  if (seen.current !== key) {
    seen.current = key;
    if (!mayStay) isAway.current = false;
    if (!isAway.current) top.current = topShowing(place, top.current, height);
  }
  top.current = Math.max(0, Math.min(top.current, most));

  useLayoutEffect(() => {
    const element = box.current;
    // Reading the position would force a layout.
    if (element === null || stands.current === top.current) return;
    stands.current = top.current;
    element.scrollTop = top.current;
  });

  const latest = useRef({ place, height });
  latest.current = { place, height };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const next = element.clientHeight || FIRST_HEIGHT;
      if (next === latest.current.height) return;
      if (!isAway.current) top.current = topShowing(latest.current.place, top.current, next);
      setHeight(next);
    };
    const render = oncePerFrame(() => again((count) => count + 1));
    const scrolled = (): void => {
      if (Math.abs(element.scrollTop - stands.current) < 1) return;
      top.current = element.scrollTop;
      stands.current = top.current;
      const at = latest.current.place * ROW_PX;
      const bottom = top.current + latest.current.height;
      isAway.current = at < top.current - SLACK_PX || at + ROW_PX > bottom + SLACK_PX;
      render();
    };
    measure();
    const observer = new ResizeObserver(oncePerFrame(measure));
    observer.observe(element);
    element.addEventListener('scroll', scrolled, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', scrolled);
    };
  }, []);

  const first = Math.max(0, Math.floor(top.current / ROW_PX) - SPARE);
  return {
    first,
    end: Math.min(size, Math.ceil((top.current + height) / ROW_PX) + SPARE),
    page: Math.max(1, Math.floor(height / ROW_PX) - 1),
    show(wanted) {
      top.current = topShowing(wanted, top.current, height);
      again((count) => count + 1);
    },
  };
}

/** Scrolls as little as possible; a distant row is centered. */
function topShowing(place: number, top: number, height: number): number {
  const lowest = (place - MARGIN) * ROW_PX;
  const highest = (place + 1 + MARGIN) * ROW_PX - height;
  if (lowest < top - height || highest > top + height) return place * ROW_PX - (height - ROW_PX) / 2;
  return Math.max(highest, Math.min(lowest, top));
}
