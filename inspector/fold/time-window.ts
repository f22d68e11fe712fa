/** The part of a time axis that is looked at. Null, where it is asked for, is all of it. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The shortest part of an axis that can be looked at. */
const NARROWEST = 0.05;

const wholeWindow = (end: number): TimeWindow => ({ from: 0, to: Math.max(end, NARROWEST) });

/** The part that is looked at, within what there is. */
export function windowOf(window: TimeWindow | null, end: number): TimeWindow {
  return window === null ? wholeWindow(end) : window;
}

/** So many times as much of it as before, with a place where it was. Null where that is all. */
export function zoomed(window: TimeWindow | null, end: number, times: number, around: number): TimeWindow | null {
  const { from, to } = windowOf(window, end);
  const length = Math.max(NARROWEST, (to - from) * times);
  if (length >= end) return null;
  const share = Math.max(0, Math.min(1, (around - from) / (to - from)));
  return within(around - share * length, length, end);
}

/** Moved along by so much of the axis. */
export function panned(window: TimeWindow | null, end: number, by: number): TimeWindow | null {
  return window === null ? null : within(window.from + by, window.to - window.from, end);
}

/** Moved no further than it takes to see a place; the same object where it is seen already. */
export function showing(window: TimeWindow | null, end: number, place: number): TimeWindow | null {
  if (window === null || (place >= window.from && place <= window.to)) return window;
  const length = window.to - window.from;
  return within(place < window.from ? place - length * 0.1 : place - length * 0.9, length, end);
}

function within(from: number, length: number, end: number): TimeWindow {
  const start = Math.max(0, Math.min(from, end - length));
  return { from: start, to: start + length };
}
