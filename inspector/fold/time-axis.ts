import { formatDuration } from './format.ts';
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

/** `at` is a share of the length of the axis. */
interface Tick {
  readonly at: number;
  readonly label: string;
}

/** The shares that the labels of a gap and of a tick need of an axis with this width. */
const cutWidth = (axisPx: number): number => Math.min(1, Math.max(0.4, 88 / axisPx));
const tickWidth = (axisPx: number): number => Math.min(1, Math.max(0.2, 52 / axisPx));

/** Returns labels for the longest gaps, as many as fit on the axis. */
export function cutsOf(gaps: readonly Gap[], axisPx: number): readonly Tick[] {
  const width = cutWidth(axisPx);
  const cuts: Tick[] = [];
  for (const { from, ms } of gaps) {
    const at = Math.min(from, 1 - width);
    const label = `skips ${formatDuration(ms).split(' ', 2).join(' ')}`;
    if (cuts.every((cut) => Math.abs(cut.at - at) >= width)) cuts.push({ at, label });
  }
  return cuts;
}

interface Ruled {
  readonly endMs: number;
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
  { endMs, untilMs, cuts, axisPx }: Ruled,
): readonly Tick[] {
  const width = tickWidth(axisPx);
  const step = stepFrom((endMs * width) / 0.9);
  const ticks: Tick[] = [];
  const starts = [0, ...gaps];
  for (const [index, first] of starts.entries()) {
    // Between two gaps, times and positions differ by a constant.
    const hidden = atMs(first) - drawnMs(first);
    const next = starts[index + 1];
    const last = next === undefined ? untilMs : drawnMs(Math.min(next, count) - 1);
    let time = Math.ceil((drawnMs(first) + hidden) / step - 1e-9) * step;
    // Numbers beyond 2^53 are further apart than a step.
    for (; time - hidden <= last + 1e-9 && time + step > time; time += step) {
      const [at, label, before] = [(time - hidden) / endMs, roundDuration(time), ticks.at(-1)];
      const isFree = cuts.every((cut) => at <= cut.at - width || at >= cut.at + cutWidth(axisPx));
      if (isFree && at < 0.85 && at - (before?.at ?? -1) >= width && label !== before?.label) ticks.push({ at, label });
    }
  }
  return ticks;
}

/** A time in its largest unit: `5 s`, `1:30 min`. */
function roundDuration(ms: number): string {
  if (ms < SECOND) return ms === 0 ? '0 s' : `${Number(ms.toFixed(1))} ms`;
  if (ms < MINUTE) return `${ms / SECOND} s`;
  const [unit, small, name] = ms < HOUR ? [MINUTE, SECOND, 'min'] : [HOUR, MINUTE, 'h'];
  const rest = Math.round((ms % unit) / small);
  return `${Math.floor(ms / unit)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`} ${name}`;
}

/** A stretch of time in which nothing ran, drawn shorter than it was. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

const MOST_GAPS = 12;

/** Returns the longest gaps, longest first, as shares of the length of the axis. */
export function gapsOf({ gaps, atMs, drawnMs }: TimeLine, endMs: number): readonly Gap[] {
  const lengthOf = (seq: number): number => atMs(seq) - atMs(seq - 1);
  return [...gaps]
    .sort((one, other) => lengthOf(other) - lengthOf(one))
    .slice(0, MOST_GAPS)
    .map((seq) => ({
      from: drawnMs(seq - 1) / endMs,
      to: drawnMs(seq) / endMs,
      ms: lengthOf(seq),
    }));
}
