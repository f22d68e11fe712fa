import type { Box } from './drawing.ts';

/** How the picture lies under its window: a point of it is seen at `x + scale * point.x`. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface WindowSize {
  readonly width: number;
  readonly height: number;
}

const LEAST_SCALE = 0.05;
const MOST_SCALE = 12;
const MARGIN = 10;
/** The picture's buttons stand above this line. */
const TOP = 48;

/** Shows a box as large as it can be, in the middle of what is free. */
export function fitTo(box: Box, size: WindowSize, mostScale = 1.6): Viewport {
  const room = { width: Math.max(1, size.width - 2 * MARGIN), height: Math.max(1, size.height - TOP - MARGIN) };
  const scale = clamp(Math.min(room.width / Math.max(1, box.width), room.height / Math.max(1, box.height), mostScale));
  return {
    scale,
    x: size.width / 2 - scale * (box.x + box.width / 2),
    y: TOP + room.height / 2 - scale * (box.y + box.height / 2),
  };
}

/** What lies under the point stays under it. */
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

/** The nearest place from which all of a box is seen; the same one where it is. */
export function bringIn(view: Viewport, box: Box, size: WindowSize): Viewport {
  const shift = (from: number, length: number, least: number, most: number): number => {
    if (length > most - least) return (least + most) / 2 - from - length / 2;
    if (from < least) return least - from;
    return Math.min(0, most - from - length);
  };
  const { x, y, scale } = view;
  return panBy(
    view,
    shift(x + scale * box.x, scale * box.width, MARGIN, size.width - MARGIN),
    shift(y + scale * box.y, scale * box.height, TOP, size.height - MARGIN),
  );
}

/** Something of the picture stays in the window. */
export function keepInSight(view: Viewport, picture: WindowSize, size: WindowSize): Viewport {
  const hold = (at: number, length: number, room: number): number => Math.min(room - 40, Math.max(40 - length, at));
  return {
    ...view,
    x: hold(view.x, view.scale * picture.width, size.width),
    y: hold(view.y, view.scale * picture.height, size.height),
  };
}

export function between(from: Viewport, to: Viewport, share: number): Viewport {
  const mix = (one: number, other: number): number => one + (other - one) * share;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), scale: mix(from.scale, to.scale) };
}

const clamp = (scale: number): number => Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
