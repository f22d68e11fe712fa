import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { placeIn } from '../fold/chart-index.ts';
import { transitionName } from '../fold/chart-words.ts';
import { excerpt } from '../fold/text.ts';
import { type KnownMarks, MARGIN } from './chart-picture.tsx';
import type { DrawnLevel } from './drawing.ts';
import { BOX } from './label-text.ts';

interface MiniMapProps {
  readonly level: DrawnLevel;
  readonly known: KnownMarks;
  /** The element that scrolls over the level. */
  readonly scroll: RefObject<HTMLElement | null>;
  readonly onShow: (stateId: string) => void;
}

/**
 * A map of a level that is larger than its space: its groups, the lines taken and the visible part. A click shows another part.
 * The source of the latest transition is beside it, unless it is visible in the chart.
 */
export function MiniMap({ level, known: { chart, index, active, taken, last }, scroll, onShow }: MiniMapProps) {
  const { width, height, states, edges } = level;
  const part = useRef<SVGRectElement>(null);
  const from = useRef<HTMLButtonElement>(null);
  const way = chart.transitions[last?.transition ?? -1];
  const source = states.find(({ id }) => id === way?.source);
  useEffect(() => {
    const { current: view } = scroll;
    const show = (): void => {
      const [shown, picture] = [view, view?.firstElementChild].map((one) => one?.getBoundingClientRect());
      if (shown === undefined || picture === undefined) return;
      const perPixel = width / picture.width;
      /** The visible part along one axis, inside the level. */
      const range = (start: 'x' | 'y', size: 'width' | 'height'): readonly [number, number] => {
        const at = (shown[start] - picture[start]) * perPixel;
        const [low, high] = [at, at + shown[size] * perPixel].map((end) => Math.max(0, Math.min(level[size], end)));
        return [low ?? 0, high ?? 0];
      };
      const [[x, right], [y, bottom]] = [range('x', 'width'), range('y', 'height')];
      for (const [name, length] of Object.entries({ x, y, width: right - x, height: bottom - y }))
        part.current?.setAttribute(name, String(length));
      if (from.current === null || source === undefined) return;
      // A compound state counts as visible if its name is.
      from.current.hidden =
        source.x >= x && source.y >= y && source.y + BOX.head <= bottom && source.x + 2 * BOX.head <= right;
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
    <>
      {way !== undefined && source !== undefined && (
        <button type="button" class="map-from" ref={from} onClick={() => onShow(way.source)}>
          {excerpt(transitionName(way), 40)} from <b>{excerpt(placeIn(index, way.source), 40)}</b>
        </button>
      )}
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
    </>
  );
}
