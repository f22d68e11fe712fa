import type { Bar, Lane, Strip } from '../../fold/lanes.ts';
import { binarySearch } from '../../fold/sorted.ts';
import type { Direction } from '../../fold/steps.ts';
import { type Scale, visibleRange } from './scale.ts';

/** How far from a bar the pointer still hits it. */
const NEAR_PX = 3;

/** The bar of a lane under the pointer, or the nearest one; null if there is none within a few pixels. */
export function barAt(lane: Lane | undefined, scale: Scale, x: number): Bar | null {
  for (const strip of lane?.strips.toReversed() ?? []) {
    const [first, end] = visibleRange(strip, scale.entryAt(x - NEAR_PX), scale.entryAt(x + NEAR_PX));
    let near: Bar | null = null;
    for (let index = end - 1; index >= first; index -= 1) {
      const bar = strip.bar(index);
      const left = scale.xOf(bar.from);
      const right = bar.to === null ? scale.endX : scale.xOf(bar.to);
      if (left <= x && x <= right) return bar;
      if (left - NEAR_PX <= x && x <= right + NEAR_PX) near ??= bar;
    }
    if (near !== null) return near;
  }
  return null;
}

/** The bar of a lane that an entry is part of, the latest if there are several. */
export function barAtEntry(lane: Lane | undefined, seq: number): Bar | null {
  for (const strip of lane?.strips.toReversed() ?? []) {
    const [first, end] = visibleRange(strip, seq, seq);
    for (let index = end - 1; index >= first; index -= 1) {
      const bar = strip.bar(index);
      if (bar.to === null || bar.to >= seq) return bar;
    }
  }
  return null;
}

/** The start of the next or previous bar of a lane; without one, the last or first entry of a run with `count`. */
export function nextBarIn(lane: Lane | undefined, seq: number, to: Direction, count: number): number {
  const starts = (lane?.strips ?? []).filter(hasLength).flatMap((strip) => {
    const index = to === 1 ? startedBy(strip, seq) : startedBy(strip, seq - 1) - 1;
    return index >= 0 && index < strip.size ? [strip.from(index)] : [];
  });
  return to === 1 ? Math.min(count - 1, ...starts) : Math.max(0, ...starts);
}

const startedBy = (strip: Strip, seq: number): number => binarySearch(strip.size, (index) => strip.from(index) > seq);

/** Decisions and events are moments on top of other bars. */
const hasLength = (strip: Strip): boolean => strip.size > 0 && !['decision', 'event'].includes(strip.bar(0).kind);
