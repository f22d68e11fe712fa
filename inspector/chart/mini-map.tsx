import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type KnownMarks, MARGIN } from './chart-picture.tsx';
import type { DrawnLevel } from './drawing.ts';

interface MiniMapProps {
  readonly level: DrawnLevel;
  readonly known: KnownMarks;
  /** What shows a part of the level. */
  readonly scroll: RefObject<HTMLElement | null>;
}

/** The whole of a level that is larger than its space: its groups, the lines that were taken, and the part that is visible. A click shows another part. */
export function MiniMap({ level, known: { active, taken, last }, scroll }: MiniMapProps) {
  const { width, height, states, edges } = level;
  const part = useRef<SVGRectElement>(null);
  useEffect(() => {
    const { current: view } = scroll;
    const show = (): void => {
      const [shown, picture] = [view, view?.firstElementChild].map((one) => one?.getBoundingClientRect());
      if (shown === undefined || picture === undefined) return;
      const perPixel = width / picture.width;
      const [x, y] = [(shown.x - picture.x) * perPixel, (shown.y - picture.y) * perPixel];
      for (const [name, length] of Object.entries({
        x,
        y,
        width: shown.width * perPixel,
        height: shown.height * perPixel,
      }))
        part.current?.setAttribute(name, String(length));
    };
    show();
    view?.addEventListener('scroll', show);
    return () => view?.removeEventListener('scroll', show);
  });
  const goTo = ({ currentTarget, clientX, clientY }: MouseEvent): void => {
    const [here, part] = [currentTarget as Element, (currentTarget as Element).lastElementChild].map(
      (one) => one?.getBoundingClientRect() ?? new DOMRect(),
    ) as [DOMRect, DOMRect];
    const pixels = (scroll.current?.firstElementChild?.clientWidth ?? 0) / here.width;
    scroll.current?.scrollBy({
      left: (clientX - part.x - part.width / 2) * pixels,
      top: (clientY - part.y - part.height / 2) * pixels,
    });
  };
  const isTaken = ({ transitions }: DrawnLevel['edges'][number]): boolean => transitions.some((one) => taken.has(one));
  const shape = Math.min(200 / width, 110 / height);
  return (
    <svg
      class="mini-map"
      viewBox={`${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`}
      width={width * shape}
      height={height * shape}
      aria-hidden="true"
      onClick={goTo}
    >
      {states.map(({ id, isOpen, x, y, width: w, height: h }) => (
        <rect key={id} class={active.has(id) ? 'active' : isOpen ? 'group' : ''} x={x} y={y} width={w} height={h} />
      ))}
      {edges.filter(isTaken).map(({ transitions, points }) => (
        <polyline
          key={transitions.join()}
          class={last?.transition != null && transitions.includes(last.transition) ? 'last' : ''}
          points={points.map(({ x, y }) => `${x},${y}`).join(' ')}
        />
      ))}
      <rect class="part" ref={part} />
    </svg>
  );
}
