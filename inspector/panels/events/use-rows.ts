import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { oncePerFrame } from '../../ui-state/inspector.ts';

export const ROW_PX = 18;
/** Rows rendered beyond each end of the visible part. */
const SPARE = 4;
/** Rows kept visible above and below the cursor. */
const MARGIN = 2;
/** A row hidden by no more than this counts as visible. */
const SLACK_PX = 4;
/** The height before it is measured. */
const FIRST_HEIGHT = 360;

interface RowsOptions {
  readonly size: number;
  readonly index: number;
  readonly key: unknown;
  readonly mayStay: boolean;
}

interface SeenRows {
  readonly first: number;
  readonly end: number;
  /** Whole rows that fit. */
  readonly page: number;
  show(index: number): void;
}

/**
 * Determines the rows to render. The list scrolls to a row whenever `key` changes, unless `mayStay` is set and the user has scrolled away
 * from it. `box` is the scrolling element.
 */
export function useRows(box: RefObject<HTMLDivElement | null>, { size, index, key, mayStay }: RowsOptions): SeenRows {
  const [height, setHeight] = useState(FIRST_HEIGHT);
  const [, rerender] = useState(0);
  const top = useRef(0);
  const appliedTop = useRef(0);
  const lastKey = useRef<unknown>(null);
  const isAway = useRef(false);
  const max = Math.max(0, size * ROW_PX - height);

  if (lastKey.current !== key) {
    lastKey.current = key;
    if (!mayStay) isAway.current = false;
    if (!isAway.current) top.current = topShowing(index, top.current, height);
  }
  top.current = Math.max(0, Math.min(top.current, max));

  useLayoutEffect(() => {
    const element = box.current;
    // Reading the position would force a layout.
    if (element === null || appliedTop.current === top.current) return;
    appliedTop.current = top.current;
    element.scrollTop = top.current;
  });

  const latest = useRef({ index, height });
  latest.current = { index, height };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const next = element.clientHeight || FIRST_HEIGHT;
      if (next === latest.current.height) return;
      if (!isAway.current) top.current = topShowing(latest.current.index, top.current, next);
      setHeight(next);
    };
    const render = oncePerFrame(() => rerender((count) => count + 1));
    const scrolled = (): void => {
      if (Math.abs(element.scrollTop - appliedTop.current) < 1) return;
      top.current = element.scrollTop;
      appliedTop.current = top.current;
      const at = latest.current.index * ROW_PX;
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
    show(targetRow) {
      top.current = topShowing(targetRow, top.current, height);
      rerender((count) => count + 1);
    },
  };
}

/** Scrolls as little as possible; a distant row is centered. */
function topShowing(index: number, top: number, height: number): number {
  const lowest = (index - MARGIN) * ROW_PX;
  const highest = (index + 1 + MARGIN) * ROW_PX - height;
  if (lowest < top - height || highest > top + height) return index * ROW_PX - (height - ROW_PX) / 2;
  return Math.max(highest, Math.min(lowest, top));
}
