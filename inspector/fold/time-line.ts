import type { JournalEntry } from '../../machines/contracts/journal.ts';

/** Only longer idle gaps are shortened. */
export const MIN_GAP_MS = 1_000;

/** The time of each entry, with and without the long gaps in which nothing was running. */
export interface TimeLine {
  readonly count: number;
  /** Milliseconds from the start of the run. */
  atMs(seq: number): number;
  /** The same without the gaps. An axis draws them with widths of its own. */
  drawnMs(seq: number): number;
  /** The entries before which there was a gap. */
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
      const gapMs = Math.max(0, atMs - (at[count - 1] ?? 0));
      const isIdle = gapMs > MIN_GAP_MS && (type === 'resumed' || !isBusy());
      if (isIdle) gaps.push(count);
      at[count] = atMs;
      drawn[count] = (drawn[count - 1] ?? 0) + (isIdle ? 0 : gapMs);
      count += 1;
    },
  };
}
