import { duration, preciseTime } from '../../fold/format.ts';
import type { Strip } from '../../fold/lanes.ts';
import { firstPlace, lastBegunBy } from '../../fold/sorted.ts';
import type { TimeAxis, TimeWindow } from '../../fold/time-axis.ts';
import type { RunView } from '../../ui-state/inspector.ts';

/** Margin at both ends, so that marks there are visible and clickable. */
const MARGIN_PX = 6;

/** The positions of entries on screen. */
export interface Scale {
  readonly axis: TimeAxis;
  readonly window: TimeWindow;
  readonly width: number;
  /** The position of the last entry. */
  readonly endX: number;
  xOf(seq: number): number;
  placeAt(x: number): number;
  entryAt(x: number): number;
}

export function scaleOf(axis: TimeAxis, window: TimeWindow, width: number): Scale {
  const perPx = (window.to - window.from) / Math.max(1, width - 2 * MARGIN_PX);
  const placeAt = (x: number): number => window.from + (x - MARGIN_PX) * perPx;
  const xAt = (place: number): number => MARGIN_PX + (place - window.from) / perPx;
  return {
    ...{ axis, window, width },
    endX: xAt(axis.end),
    xOf: (seq) => xAt(axis.placeOf(seq)),
    placeAt,
    entryAt: (x) => axis.entryAt(Math.max(0, placeAt(x))),
  };
}

/** How many things may begin after another one and end before it. */
const OVERLAPS = 64;

/** The part of a strip that may be seen between two entries: from the first place up to, but without, the second. */
export function placesBetween(strip: Strip, from: number, to: number): readonly [number, number] {
  const first = firstPlace(strip.size, (place) => strip.from(place) > from) - 1;
  return [Math.max(0, first - OVERLAPS), firstPlace(strip.size, (place) => strip.from(place) > to)];
}

/** The cursor position as text, for display and for screen readers. */
export function positionText({ fold, at, count }: RunView): string {
  const phase = phaseAt(fold.spans.phases, at);
  const place = phase === undefined ? [] : [`cycle ${phase.cycle}`, phase.phase];
  return [`entry ${at} / ${Math.max(0, count - 1)}`, preciseTime(fold.timeLine.atMs(at)), ...place].join(' · ');
}

export function positionSaid({ fold, at, count }: RunView): string {
  const phase = phaseAt(fold.spans.phases, at);
  const place = phase === undefined ? [] : [phase.phase, `cycle ${phase.cycle}`];
  return [`entry ${at} of ${count}`, duration(fold.timeLine.atMs(at)), ...place].join(', ');
}

/** The current phase; none between two phases. */
function phaseAt(phases: RunView['fold']['spans']['phases'], at: number) {
  const phase = lastBegunBy(phases, at);
  return phase !== undefined && (phase.to === null || phase.to >= at) ? phase : undefined;
}
