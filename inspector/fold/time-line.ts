import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { binarySearch } from './sorted.ts';

/** Longer gaps are drawn with this length. */
export const MAX_GAP_MS = 1_000;

/** The time of each entry, and its drawn position: idle gaps are compressed. */
export interface TimeLine {
  readonly count: number;
  /** Milliseconds from the start of the run. */
  atMs(seq: number): number;
  /** Drawn milliseconds from the start: the same, with every gap cut to `LONGEST_GAP_MS`. */
  drawnMs(seq: number): number;
  /** The last entry drawn at or before this many milliseconds; 0 if there is none. */
  entryAt(drawnMs: number): number;
  /** The entries before which a gap was compressed. */
  readonly gaps: readonly number[];
}

/** Stores two numbers per entry, in arrays that double when full. */
export function createTimeLine(): { readonly timeLine: TimeLine; take(entry: JournalEntry): void } {
  let at = new Float64Array(1_024);
  let drawn = new Float64Array(1_024);
  let count = 0;
  const gaps: number[] = [];

  const doubled = (numbers: Float64Array): Float64Array<ArrayBuffer> => {
    const more = new Float64Array(numbers.length * 2);
    more.set(numbers);
    return more;
  };

  return {
    timeLine: {
      get count() {
        return count;
      },
      gaps,
      atMs: (seq) => at[seq] ?? 0,
      drawnMs: (seq) => drawn[seq] ?? 0,
      entryAt: (drawnMs) => Math.max(0, binarySearch(count, (seq) => (drawn[seq] ?? 0) > drawnMs) - 1),
    },
    take({ atMs }) {
      if (count === at.length) {
        at = doubled(at);
        drawn = doubled(drawn);
      }
      const gapMs = count === 0 ? 0 : Math.max(0, atMs - (at[count - 1] ?? 0));
      if (gapMs > MAX_GAP_MS) gaps.push(count);
      at[count] = atMs;
      drawn[count] = (drawn[count - 1] ?? 0) + Math.min(gapMs, MAX_GAP_MS);
      count += 1;
    },
  };
}
