import { formatDuration, formatTime } from '../../fold/format.ts';
import type { Strip } from '../../fold/lanes.ts';
import { binarySearch, lastStartedBy } from '../../fold/sorted.ts';
import type { TimeAxis, TimeWindow } from '../../fold/time-axis.ts';
import type { RunView } from '../../ui-state/inspector.ts';

/** Margin at both ends, so that marks there are visible and clickable. */
const MARGIN_PX = 6;

export interface Scale {
  readonly axis: TimeAxis;
  readonly window: TimeWindow;
  readonly width: number;
  readonly endX: number;
  xOf(seq: number): number;
  xAt(position: number): number;
  positionAt(x: number): number;
  entryAt(x: number): number;
  /** The entries between two positions; at least one. */
  entriesBetween(oneX: number, otherX: number): { readonly from: number; readonly to: number };
}

export function scaleOf(axis: TimeAxis, window: TimeWindow, width: number): Scale {
  const perPx = (window.to - window.from) / Math.max(1, width - 2 * MARGIN_PX);
  const positionAt = (x: number): number => window.from + (x - MARGIN_PX) * perPx;
  const xAt = (position: number): number => MARGIN_PX + (position - window.from) / perPx;
  const entryAt = (x: number): number => axis.entryAt(Math.max(0, positionAt(x)));
  return {
    axis,
    window,
    width,
    endX: xAt(axis.end),
    xAt,
    xOf: (seq) => xAt(axis.positionOf(seq)),
    positionAt,
    entryAt,
    entriesBetween(oneX, otherX) {
      const start = positionAt(Math.min(oneX, otherX));
      const from = start <= 0 ? 0 : axis.entryAt(start - 1e-6) + 1;
      const to = entryAt(Math.max(oneX, otherX));
      return { from: Math.min(from, to), to };
    },
  };
}

/** How many bars may start after another one and end before it. */
const OVERLAPS = 64;

/** The end is exclusive. */
export function visibleRange(strip: Strip, from: number, to: number): readonly [number, number] {
  const first = binarySearch(strip.size, (index) => strip.from(index) > from) - 1;
  return [Math.max(0, first - OVERLAPS), binarySearch(strip.size, (index) => strip.from(index) > to)];
}

export function positionText({ fold, at, count }: RunView): string {
  const { phase, cycle } = phaseAt(fold.spans.phases, at) ?? {};
  const parts = [`entry ${at} / ${Math.max(0, count - 1)}`, formatTime(fold.timeLine.atMs(at))];
  return [...parts, ...(phase === undefined ? [] : [`cycle ${cycle}`, phase])].join(' · ');
}

export function spokenPosition({ fold, at, count }: RunView): string {
  const { phase, cycle } = phaseAt(fold.spans.phases, at) ?? {};
  const parts = [`entry ${at} of ${Math.max(0, count - 1)}`, formatDuration(fold.timeLine.atMs(at))];
  return [...parts, ...(phase === undefined ? [] : [phase, `cycle ${cycle}`])].join(', ');
}

function phaseAt(phases: RunView['fold']['spans']['phases'], at: number) {
  const phase = lastStartedBy(phases, at);
  return phase !== undefined && (phase.to === null || phase.to >= at) ? phase : undefined;
}
