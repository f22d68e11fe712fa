import { formatNumber } from './format.ts';
import { countUpTo } from './sorted.ts';
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

export function panned(window: TimeWindow | null, end: number, by: number): TimeWindow | null {
  return window === null ? null : within(window.from + by, window.to - window.from, end);
}

/** Scrolls just far enough to show a position; the same object if it is already visible. */
export function showing(window: TimeWindow | null, end: number, position: number): TimeWindow | null {
  if (window === null || (position >= window.from && position <= window.to)) return window;
  const length = window.to - window.from;
  return within(position < window.from ? position - length * 0.1 : position - length * 0.9, length, end);
}

/** The visible part between two positions; null if that is everything. */
export function windowBetween(one: number, other: number, end: number): TimeWindow | null {
  const length = Math.max(MIN_LENGTH, Math.abs(other - one));
  return length >= end ? null : within(Math.min(one, other), length, end);
}

function within(from: number, length: number, end: number): TimeWindow {
  const start = Math.max(0, Math.min(from, end - length));
  return { from: start, to: start + length };
}

/** A mark of the ruler: seconds since the start, or on an axis by entry the number of an entry. */
export interface Tick {
  readonly position: number;
  readonly label: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS: readonly number[] = [
  ...[0.01, 0.1, 1, 10, 100].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 6, 12, 24, 48].map((hours) => hours * HOUR),
];

/** The marks in the visible part, at least `minLength` apart except at shortened gaps, inside which there are none. */
export function ticksIn(axis: TimeAxis, timeLine: TimeLine, window: TimeWindow, minLength: number): readonly Tick[] {
  return axis.by === 'entry'
    ? entryTicks(window, minLength, axis.end)
    : timeTicks(timeLine, window, minLength, axis.end);
}

function entryTicks({ from, to }: TimeWindow, minLength: number, end: number): readonly Tick[] {
  const step = roundUp(Math.max(1, minLength / ENTRY_LENGTH));
  const ticks: Tick[] = [];
  for (let seq = Math.ceil(from / ENTRY_LENGTH / step) * step; seq * ENTRY_LENGTH <= Math.min(to, end); seq += step)
    ticks.push({ position: seq * ENTRY_LENGTH, label: `entry ${formatNumber(seq)}` });
  return ticks;
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function roundUp(number: number): number {
  const unit = 10 ** Math.floor(Math.log10(number));
  return ([1, 2, 5].find((times) => times * unit >= number) ?? 10) * unit;
}

function timeTicks(timeLine: TimeLine, { from, to }: TimeWindow, minLength: number, end: number): readonly Tick[] {
  const { gaps, drawnMs, atMs } = timeLine;
  const step = STEPS.find((one) => one >= minLength) ?? roundUp(minLength / HOUR) * HOUR;
  const ticks: Tick[] = [];
  let gap = countUpTo(gaps, timeLine.entryAt(from));
  // Between two gaps, times and positions differ by a constant.
  for (
    let first = gaps[gap - 1] ?? 0;
    first < timeLine.count && drawnMs(first) <= to;
    first = gaps[gap++] ?? Infinity
  ) {
    const hidden = atMs(first) - drawnMs(first);
    const next = gaps[gap];
    const last = Math.min(to, next === undefined ? end : drawnMs(next - 1));
    const start = Math.max(from, drawnMs(first));
    for (let at = Math.ceil((start + hidden) / step - 1e-9); at * step - hidden <= last; at += 1)
      ticks.push({ position: at * step - hidden, label: tickLabel(at * step, step) });
  }
  return ticks;
}

/** A time since the start, as precise as the distance between two ticks: `0 s`, `250 ms`, `1.5 s`, `2 min 5 s`. */
function tickLabel(ms: number, step: number): string {
  if (ms === 0) return '0 s';
  if (ms < SECOND) return `${Number(ms.toFixed(2))} ms`;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / SECOND) - 1e-9));
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(decimals)} s`;
  if (ms < HOUR) return withRest(Math.floor(ms / MINUTE), 'min', ((ms % MINUTE) / SECOND).toFixed(decimals), 's');
  return withRest(Math.floor(ms / HOUR), 'h', String(Math.round((ms % HOUR) / MINUTE)), 'min');
}

const withRest = (number: number, unit: string, rest: string, restUnit: string): string =>
  Number(rest) === 0 ? `${number} ${unit}` : `${number} ${unit} ${rest} ${restUnit}`;

const PLAYBACK_MS = 20_000;

interface Played {
  readonly position: number;
  readonly seq: number;
  readonly isOver: boolean;
}

export function played(axis: TimeAxis, position: number, elapsedMs: number): Played {
  const next = Math.min(axis.end, position + (Math.max(0, elapsedMs) * axis.end) / PLAYBACK_MS);
  return { position: next, seq: axis.entryAt(next), isOver: next >= axis.end };
}
