import type { Lane } from '../../fold/lanes.ts';
import { duration, preciseTime } from '../../fold/number-words.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import type { Strip } from '../../fold/strips.ts';
import { shortly } from '../../ui-state/text.ts';
import { CYCLES_PX, MARKS_PX } from './draw-marks.ts';
import { LANE_PX } from './draw-strip.ts';
import { placesBetween, type Scale } from './scale.ts';

const NEAR_PX = 3;

/** What is under the pointer, in one line. */
export function pointedAt(fold: RunFold, lanes: readonly Lane[], scale: Scale, x: number, y: number): string {
  const seq = scale.entryAt(x);
  const head = `entry ${seq} · ${preciseTime(fold.timeLine.atMs(seq))}`;
  const lane = lanes[Math.floor((y - CYCLES_PX - MARKS_PX) / LANE_PX)];
  if (y < CYCLES_PX + MARKS_PX || lane === undefined)
    return `${head} · ${markAt(fold, scale, x) ?? fold.places.typeOf(seq)}`;
  return `${head} · ${lane.name}: ${barAt(fold, lane, scale, x) ?? 'nothing'}`;
}

function markAt({ places }: RunFold, scale: Scale, x: number): string | null {
  const until = scale.entryAt(x + NEAR_PX);
  for (const type of ['delivery', 'decision'] as const) {
    const seq = lastUpTo(places.of(type), until);
    if (seq !== undefined && Math.abs(scale.xOf(seq) - x) <= NEAR_PX + 1) return `${type} (entry ${seq})`;
  }
  return null;
}

function barAt(fold: RunFold, lane: Lane, scale: Scale, x: number): string | null {
  const from = scale.entryAt(x - NEAR_PX);
  const until = scale.entryAt(x + NEAR_PX);
  for (const strip of [...lane.strips].reverse()) {
    const [first, end] = placesBetween(strip, from, until);
    for (let place = end - 1; place >= first; place -= 1)
      if ((strip.to(place) ?? Number.MAX_SAFE_INTEGER) >= from) return barText(fold, strip, place);
  }
  return null;
}

function barText({ timeLine }: RunFold, strip: Strip, place: number): string {
  const to = strip.to(place);
  const fromMs = timeLine.atMs(strip.from(place));
  const took = to === null ? 'goes on' : duration(timeLine.atMs(to) - fromMs);
  const failure = strip.failure(place);
  const parts = [strip.label(place), `from ${preciseTime(fromMs)}`, took];
  return shortly([...parts, ...(failure === null ? [] : [`failed, ${failure}`])].join(', '), 200);
}
