import { formatRoughly } from './format.ts';
import type { TimeLine } from './time-line.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS: readonly number[] = [
  ...[0.1, 1, 10, 100].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 6, 12, 24, 48].map((hours) => hours * HOUR),
];

const stepFrom = (ms: number): number => STEPS.find((step) => step >= ms) ?? Math.ceil(ms / (48 * HOUR)) * 48 * HOUR;

/** Where the axis of a live run ends: it grows in steps, so that its bars do not move with each tick of the clock. */
export const axisEnd = (drawnMs: number): number => {
  const step = stepFrom(drawnMs / 4);
  return Math.max(1, Math.ceil(drawnMs / step) * step);
};

/** The part of the axis that is shown, in drawn milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** No range is shorter. */
const MIN_RANGE_MS = 1;

const within = (startMs: number, lengthMs: number, wholeMs: number): TimeRange => {
  const start = Math.max(0, Math.min(startMs, wholeMs - lengthMs));
  return { startMs: start, endMs: start + lengthMs };
};

/** Returns a range that is `factor` times as long. `aroundMs` keeps its place, or moves to the middle if it was outside. Null is the whole axis. */
export function zoomed({ startMs, endMs }: TimeRange, factor: number, aroundMs: number, wholeMs: number) {
  const lengthMs = Math.max(MIN_RANGE_MS, (endMs - startMs) * factor);
  if (lengthMs >= wholeMs) return null;
  const share = (aroundMs - startMs) / (endMs - startMs);
  return within(aroundMs - (share >= 0 && share <= 1 ? share : 0.5) * lengthMs, lengthMs, wholeMs);
}

/** Returns a range of the same length, moved by some milliseconds or, for something that is outside, to its middle. */
export const moved = ({ startMs, endMs }: TimeRange, byMs: number, wholeMs: number): TimeRange =>
  within(startMs + byMs, endMs - startMs, wholeMs);
export function movedTo(range: TimeRange, { startMs, endMs }: TimeRange, wholeMs: number): TimeRange {
  const isSeen = startMs <= range.endMs && endMs >= range.startMs;
  return isSeen ? range : moved(range, (startMs + endMs - range.startMs - range.endMs) / 2, wholeMs);
}

/** The place of a time on the axis, as a share of its length. */
export const shareOf = ({ startMs, endMs }: TimeRange, drawnMs: number): number =>
  (drawnMs - startMs) / (endMs - startMs);

/** `at` is a share of the length of the axis. */
interface Tick {
  readonly at: number;
  readonly label: string;
}

/** The shares that the labels of a gap and of a tick need of an axis with this width. */
const cutWidth = (axisPx: number): number => Math.min(1, Math.max(0.4, 88 / axisPx));
const tickWidth = (axisPx: number, tickPx: number): number => Math.min(1, Math.max(0.2, tickPx / axisPx));
/** In pixels. Times between whole seconds of a long run are longer. */
const [TICK_PX, LONG_TICK_PX] = [52, 84];

/** Returns labels for the longest gaps, as many as fit on the axis. */
export function cutsOf(gaps: readonly Gap[], axisPx: number): readonly Tick[] {
  const width = cutWidth(axisPx);
  const cuts: Tick[] = [];
  for (const { from, to, ms } of gaps) {
    // A gap near the start leaves room for the first time.
    const at = Math.min(Math.max(from, 0, Math.min(tickWidth(axisPx, TICK_PX), to - width)), 1 - width);
    const label = `skips ${formatRoughly(ms)}`;
    if (cuts.every((cut) => Math.abs(cut.at - at) >= width)) cuts.push({ at, label });
  }
  return cuts;
}

interface Ruled extends TimeRange {
  readonly untilMs: number;
  readonly cuts: readonly Tick[];
  readonly axisPx: number;
}

/**
 * Returns times since the start up to `untilMs`, at equal distances. There are none inside shortened gaps or at the labels of
 * `cuts`.
 */
export function ticksOf(
  { gaps, count, atMs, drawnMs }: TimeLine,
  { startMs, endMs, untilMs, cuts, axisPx }: Ruled,
): readonly Tick[] {
  const isLong = untilMs > MINUTE && endMs - startMs < 5 * SECOND;
  const width = tickWidth(axisPx, isLong ? LONG_TICK_PX : TICK_PX);
  const step = stepFrom(((endMs - startMs) * width) / 0.9);
  const ticks: Tick[] = [];
  const starts = [0, ...gaps];
  for (const [index, first] of starts.entries()) {
    // Between two gaps, times and positions differ by a constant.
    const hidden = atMs(first) - drawnMs(first);
    const next = starts[index + 1];
    const last = Math.min(untilMs, next === undefined ? untilMs : drawnMs(Math.min(next, count) - 1));
    const from = index === 0 ? startMs : Math.max(startMs, drawnMs(first));
    // The first entry may be recorded a few milliseconds after the start.
    let time = Math.ceil((from + hidden) / step - (from === 0 ? 0.2 : 1e-9)) * step;
    // Numbers beyond 2^53 are further apart than a step.
    for (; time - hidden <= last + 1e-9 && time + step > time; time += step) {
      const at = Math.max(0, (time - hidden - startMs) / (endMs - startMs));
      const [label, before] = [roundDuration(time), ticks.at(-1)];
      const isFree = cuts.every((cut) => at <= cut.at - width || at >= cut.at + cutWidth(axisPx));
      if (isFree && at < 0.85 && at - (before?.at ?? -1) >= width && label !== before?.label) ticks.push({ at, label });
    }
  }
  return ticks;
}

/** A time in its largest unit: `5 s`, `1:30 min`, `2:00:05.5 h`. */
function roundDuration(exactMs: number): string {
  const ms = Number(exactMs.toFixed(1));
  if (ms < SECOND) return ms === 0 ? '0 s' : `${ms} ms`;
  if (ms < MINUTE) return `${ms / SECOND} s`;
  const minutes = Math.floor(ms / MINUTE);
  const seconds = Number(((ms % MINUTE) / SECOND).toFixed(4));
  const [unit, parts] =
    ms < HOUR ? ['min', [minutes, seconds]] : ['h', [Math.floor(minutes / 60), minutes % 60, seconds]];
  while (parts.at(-1) === 0) parts.pop();
  return `${parts.map((part, at) => (at > 0 && part < 10 ? `0${part}` : part)).join(':')} ${unit}`;
}

/** A stretch of time in which nothing ran, drawn shorter than it was. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

const MOST_GAPS = 12;

/** Returns the longest gaps in a range, longest first, as shares of its length. */
export function gapsOf({ gaps, atMs, drawnMs }: TimeLine, range: TimeRange): readonly Gap[] {
  const lengthOf = (seq: number): number => atMs(seq) - atMs(seq - 1);
  return gaps
    .filter((seq) => drawnMs(seq) > range.startMs && drawnMs(seq - 1) < range.endMs)
    .sort((one, other) => lengthOf(other) - lengthOf(one))
    .slice(0, MOST_GAPS)
    .map((seq) => ({
      from: shareOf(range, drawnMs(seq - 1)),
      to: shareOf(range, drawnMs(seq)),
      ms: lengthOf(seq),
    }));
}
