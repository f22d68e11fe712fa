import type { JournalEntry } from '../../machines/contracts/journal.ts';

/** Longer idle gaps are drawn with this length. */
export const MAX_GAP_MS = 1_000;

/** The time of each entry, and its drawn position: long gaps are shortened if nothing was running in them. */
export interface TimeLine {
  readonly count: number;
  /** Milliseconds from the start of the run. */
  atMs(seq: number): number;
  /** Drawn milliseconds from the start: the same, with every idle gap cut to `MAX_GAP_MS`. */
  drawnMs(seq: number): number;
  /** The entries before which a gap was shortened. */
  readonly gaps: readonly number[];
}

/**
 * Stores two numbers per entry, in arrays that double when full. `isBusy` returns whether a call was running before the
 * taken entry. The time before a resumed run continues is idle.
 */
export function createTimeLine(isBusy: () => boolean): {
  readonly timeLine: TimeLine;
  take(entry: JournalEntry): void;
} {
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
    },
    take({ atMs, type }) {
      if (count === at.length) {
        at = doubled(at);
        drawn = doubled(drawn);
      }
      const gapMs = count === 0 ? 0 : Math.max(0, atMs - (at[count - 1] ?? 0));
      const isIdle = gapMs > MAX_GAP_MS && (type === 'resumed' || !isBusy());
      if (isIdle) gaps.push(count);
      at[count] = atMs;
      drawn[count] = (drawn[count - 1] ?? 0) + (isIdle ? MAX_GAP_MS : gapMs);
      count += 1;
    },
  };
}
