import { formatRoughly } from './format.ts';
import { countUpTo, firstIndexWhere } from './sorted.ts';
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
const MIN_RANGE_MS = 0.1;

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

/** Where times are on an axis: places are shares of its length. */
export type Scale = ReturnType<typeof scaleOf>;

/** A shortened gap is as wide, unless all together would take more than half of the axis. */
const CUT_PX = 24;
const MOST_CUTS = 12;
const BISECTIONS = 40;

/** Returns how much of an axis a millisecond takes: gaps that would be wider than `cutWidth` are cut to it. */
function shareOfMs(lengthMs: number, gaps: readonly { readonly ms: number }[], cutWidth: number): number {
  const lengthWith = (perMs: number): number =>
    gaps.reduce((sum, { ms }) => sum + Math.min(cutWidth, ms * perMs), lengthMs * perMs);
  let [low, high] = [0, 1 / lengthMs];
  for (let step = 0; gaps.length > 0 && step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (lengthWith(middle) > 1) high = middle;
    else low = middle;
  }
  return high;
}

/** `now`: the drawn time, and how long nothing has run; 0 if something is running. */
export function scaleOf(timeLine: TimeLine, range: TimeRange, axisPx: number, now: { nowMs: number; idleMs: number }) {
  const { startMs, endMs } = range;
  const { drawnMs } = timeLine;
  const all: { seq: number | null; atMs: number; ms: number }[] = timeLine.gaps.map((seq) => ({
    seq,
    atMs: drawnMs(seq),
    ms: timeLine.gapMs(seq),
  }));
  if (now.idleMs > 0) all.push({ seq: null, atMs: now.nowMs, ms: now.idleMs });
  const before = firstIndexWhere(all, (gap) => gap.atMs >= startMs);
  const until = firstIndexWhere(all, (gap) => gap.atMs > endMs);
  const inside = all.slice(before, until);
  const cutWidth = Math.min(CUT_PX / axisPx, 0.5 / inside.length);
  const perMs = shareOfMs(endMs - startMs, inside, cutWidth);
  /** The width of the gaps before each, and of all. */
  const widths = [0];
  for (const { ms } of inside) widths.push((widths.at(-1) ?? 0) + Math.min(cutWidth, ms * perMs));
  const placeOf = (ms: number, gaps: number): number =>
    (ms - startMs) * perMs + (widths[Math.max(0, Math.min(inside.length, gaps - before))] ?? 0);
  const cuts = inside
    .map(({ ms, ...gap }, index) => ({
      from: placeOf(gap.atMs, before + index),
      to: placeOf(gap.atMs, before + index + 1),
      ms,
      seq: gap.seq,
    }))
    .filter(({ ms }) => ms * perMs > cutWidth)
    .sort((one, other) => other.ms - one.ms)
    .slice(0, MOST_CUTS);
  return {
    startMs,
    endMs,
    axisPx,
    /** The fraction of the axis that a millisecond takes in which something ran. */
    perMs,
    /** The longest of its shortened gaps, longest first. */
    cuts,
    /** The place of a drawn time, given the number of gaps before it. */
    placeOf,
    placeOfEntry: (seq: number) => placeOf(drawnMs(seq), countUpTo(timeLine.gaps, seq)),
    now: placeOf(now.nowMs, all.length),
    /** The drawn time at a place. */
    msAt(place: number): number {
      const gap = inside.findIndex((one, index) => place < placeOf(one.atMs, before + index + 1));
      const ms = startMs + (place - (widths.at(gap) ?? 0)) / perMs;
      return gap < 0 ? ms : Math.min(inside[gap]?.atMs ?? ms, ms);
    },
  };
}

/** `at` is a share of the length of the axis. */
interface Tick {
  readonly at: number;
  readonly label: string;
}

/** In pixels. Times between whole seconds of a long run are longer. */
const [TICK_PX, LONG_TICK_PX, CHARACTER_PX, WIDE_CHARACTER_PX, LABEL_GAP_PX] = [52, 96, 5.6, 7, 10];

/** Returns labels with the lengths of gaps: the longest first, as many as fit. `wordsOf` says what ended the gap before an entry. */
export function cutLabels(
  { cuts, axisPx }: Scale,
  wordsOf: (duration: string, seq: number | null) => string = (duration) => duration,
): readonly Tick[] {
  const labels: (Tick & { readonly end: number })[] = [];
  for (const { from, to, ms, seq } of cuts) {
    const label = wordsOf(formatRoughly(ms), seq);
    const width = Math.min(1, (label.length * WIDE_CHARACTER_PX) / axisPx);
    const at = Math.max(0, Math.min(1 - width, (from + to - width) / 2));
    const room = LABEL_GAP_PX / axisPx;
    if (labels.every((other) => other.end + room <= at || other.at >= at + width + room))
      labels.push({ at, label, end: at + width });
  }
  return labels;
}

/** Returns times since `zeroMs`, at equal distances and, if there is room, at the start and after each gap. Only the first may reach into a gap. */
export function ticksOf({ gaps, count, wallMs, drawnMs }: TimeLine, scale: Scale, zeroMs = 0): readonly Tick[] {
  const { startMs, endMs, perMs, axisPx, cuts } = scale;
  const isLong = wallMs(count - 1) > MINUTE && 1 / perMs < 5 * SECOND;
  const width = Math.min(1, Math.max(0.2, (isLong ? LONG_TICK_PX : TICK_PX) / axisPx));
  const step = stepFrom(width / 0.9 / perMs);
  const ticks: Tick[] = [];
  function add(at: number, ms: number): void {
    const [label, before] = [roundDuration(ms), ticks.at(-1)];
    const end = at + (label.length * CHARACTER_PX + LABEL_GAP_PX) / axisPx;
    const isInside = at < 0.85 && end < 1 + LABEL_GAP_PX / axisPx;
    const isOverCut = at > 0 && cuts.some(({ from, to }) => at < to - 1e-9 && end > from);
    if (isInside && at - (before?.at ?? -1) >= width && label !== before?.label && !isOverCut)
      ticks.push({ at, label });
  }
  /** Between two gaps, times and positions differ by a constant. */
  const starts = [-1, ...gaps];
  const hiddenAfter = (first = -1): number => (first < 0 ? 0 : wallMs(first) - drawnMs(first)) - zeroMs;
  for (const [part, first] of starts.entries()) {
    const [hidden, next] = [hiddenAfter(first), starts[part + 1]];
    const last = Math.min(endMs, next === undefined ? endMs : drawnMs(next));
    const after = drawnMs(first) + hidden;
    if (first >= 0 && drawnMs(first) >= startMs && drawnMs(first) <= endMs)
      add(scale.placeOf(drawnMs(first), part), after < MINUTE ? after : Math.round(after / SECOND) * SECOND);
    let time = Math.ceil((Math.max(startMs, drawnMs(first)) + hidden) / step - 1e-9) * step;
    // Numbers beyond 2^53 are further apart than a step.
    for (; time - hidden <= last + 1e-9 && time + step > time; time += step)
      add(Math.max(0, scale.placeOf(time - hidden, part)), time);
  }
  if ((ticks[0]?.at ?? 1) < width) return ticks;
  const hidden = hiddenAfter(starts[firstIndexWhere(gaps, (seq) => drawnMs(seq) >= startMs)]);
  return [{ at: 0, label: roundDuration(startMs + hidden) }, ...ticks];
}

/** An exact time in the units of durations: `5 s`, `1 min 30 s`, `2 h 5.5 s`. */
function roundDuration(exactMs: number): string {
  const ms = Number(exactMs.toFixed(1));
  if (ms < SECOND) return ms === 0 ? '0 s' : `${ms} ms`;
  const parts = [
    [Math.floor(ms / HOUR), 'h'],
    [Math.floor(ms / MINUTE) % 60, 'min'],
    [Number(((ms % MINUTE) / SECOND).toFixed(4)), 's'],
  ] as const;
  return parts.flatMap(([number, unit]) => (number === 0 ? [] : `${number} ${unit}`)).join(' ');
}
