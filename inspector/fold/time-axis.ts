import type { TimeLine } from './time-line.ts';

/** The width of an entry on an axis by entry, in milliseconds. */
const ENTRY_LENGTH = 50;

/** The horizontal positions of entries: by time, or evenly spaced. */
export interface TimeAxis {
  readonly by: 'time' | 'entry';
  /** The position of the last entry. */
  readonly end: number;
  positionOf(seq: number): number;
  /** The last entry at or before a position; the first if there is none. */
  entryAt(position: number): number;
}

/** An axis for the entries received so far. */
export function timeAxis(timeLine: TimeLine, by: TimeAxis['by']): TimeAxis {
  const last = Math.max(0, timeLine.count - 1);
  return by === 'time'
    ? { by, end: timeLine.drawnMs(last), positionOf: timeLine.drawnMs, entryAt: timeLine.entryAt }
    : {
        by,
        end: last * ENTRY_LENGTH,
        positionOf: (seq) => seq * ENTRY_LENGTH,
        entryAt: (position) => Math.max(0, Math.min(last, Math.floor(position / ENTRY_LENGTH + 1e-6))),
      };
}

/** The visible part of a time axis; null means all of it. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The length of the smallest window. */
const MIN_LENGTH = 0.05;

const wholeWindow = (end: number): TimeWindow => ({ from: 0, to: Math.max(end, MIN_LENGTH) });

/** The visible part; the whole axis if `window` is null. */
export function windowOf(window: TimeWindow | null, end: number): TimeWindow {
  return window === null ? wholeWindow(end) : window;
}

/** Zooms by a factor around a position; null if everything is visible. */
export function zoomed(window: TimeWindow | null, end: number, times: number, around: number): TimeWindow | null {
  const { from, to } = windowOf(window, end);
  const length = Math.max(MIN_LENGTH, (to - from) * times);
  if (length >= end) return null;
  const share = Math.max(0, Math.min(1, (around - from) / (to - from)));
  return within(around - share * length, length, end);
}

/** Moves the window along the axis. */
export function panned(window: TimeWindow | null, end: number, by: number): TimeWindow | null {
  return window === null ? null : within(window.from + by, window.to - window.from, end);
}

/** Scrolls just far enough to show a position; the same object if it is already visible. */
export function showing(window: TimeWindow | null, end: number, position: number): TimeWindow | null {
  if (window === null || (position >= window.from && position <= window.to)) return window;
  const length = window.to - window.from;
  return within(position < window.from ? position - length * 0.1 : position - length * 0.9, length, end);
}

function within(from: number, length: number, end: number): TimeWindow {
  const start = Math.max(0, Math.min(from, end - length));
  return { from: start, to: start + length };
}

/** Playback speeds, in drawn seconds per second. */
export const SPEEDS = [0.01, 0.05, 0.25, 1, 4, 16] as const;
export type Speed = (typeof SPEEDS)[number];

/** The approximate duration of playback at the default speed. */
const DEFAULT_PLAYBACK_MS = 20_000;

/** The default speed: short runs are slowed down, long ones play in real time. */
export function defaultSpeed(end: number): Speed {
  const ratio = Math.max(end, 1) / DEFAULT_PLAYBACK_MS;
  const awayFrom = (speed: number): number => Math.abs(Math.log(ratio / speed));
  const slow = SPEEDS.filter((speed) => speed <= 1);
  return slow.reduce((best, speed) => (awayFrom(speed) < awayFrom(best) ? speed : best));
}

interface Played {
  readonly position: number;
  readonly seq: number;
  /** Playback has reached the last entry. */
  readonly isOver: boolean;
}

/** The playback position after more milliseconds. */
export function played(axis: TimeAxis, position: number, elapsedMs: number, speed: number): Played {
  const next = Math.min(axis.end, position + Math.max(0, elapsedMs) * speed);
  return { position: next, seq: axis.entryAt(next), isOver: next >= axis.end };
}
