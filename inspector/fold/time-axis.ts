import type { TimeLine } from './time-line.ts';

/** The width of an entry on an axis by entry, in milliseconds. */
const ENTRY_LENGTH = 50;

/** The horizontal positions of entries: by time, or evenly spaced. */
export interface TimeAxis {
  readonly by: 'time' | 'entry';
  /** The place of the last entry. */
  readonly end: number;
  placeOf(seq: number): number;
  /** The last entry at or before a position; the first if there is none. */
  entryAt(place: number): number;
}

/** An axis for the entries received so far. */
export function timeAxis(timeLine: TimeLine, by: TimeAxis['by']): TimeAxis {
  const last = Math.max(0, timeLine.count - 1);
  return by === 'time'
    ? { by, end: timeLine.drawnMs(last), placeOf: timeLine.drawnMs, entryAt: timeLine.entryAt }
    : {
        by,
        end: last * ENTRY_LENGTH,
        placeOf: (seq) => seq * ENTRY_LENGTH,
        entryAt: (place) => Math.max(0, Math.min(last, Math.floor(place / ENTRY_LENGTH + 1e-6))),
      };
}

/** The visible part of a time axis; null means all of it. */
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

/** Zooms by a factor around a position; null if everything is visible. */
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

/** Scrolls just far enough to show a position; the same object if it is already visible. */
export function showing(window: TimeWindow | null, end: number, place: number): TimeWindow | null {
  if (window === null || (place >= window.from && place <= window.to)) return window;
  const length = window.to - window.from;
  return within(place < window.from ? place - length * 0.1 : place - length * 0.9, length, end);
}

function within(from: number, length: number, end: number): TimeWindow {
  const start = Math.max(0, Math.min(from, end - length));
  return { from: start, to: start + length };
}

/** Drawn time a second of the viewer's, in seconds. */
export const SPEEDS = [0.01, 0.05, 0.25, 1, 4, 16] as const;
export type Speed = (typeof SPEEDS)[number];

/** The approximate duration of playback at the default speed. */
const USUAL_MS = 20_000;

/** The default speed: short runs are slowed down, long ones play in real time. */
export function usualSpeed(end: number): Speed {
  const wanted = Math.max(end, 1) / USUAL_MS;
  const awayFrom = (speed: number): number => Math.abs(Math.log(wanted / speed));
  const slow = SPEEDS.filter((speed) => speed <= 1);
  return slow.reduce((best, speed) => (awayFrom(speed) < awayFrom(best) ? speed : best));
}

interface Played {
  readonly place: number;
  readonly seq: number;
  /** The last entry is reached. */
  readonly isOver: boolean;
}

/** The playback position after more milliseconds. */
export function played(axis: TimeAxis, place: number, elapsedMs: number, speed: number): Played {
  const next = Math.min(axis.end, place + Math.max(0, elapsedMs) * speed);
  return { place: next, seq: axis.entryAt(next), isOver: next >= axis.end };
}
