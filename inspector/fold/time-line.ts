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

/** `isBusy` returns whether a call was running before the taken entry. The time before a resumed run continues is idle. */
export function createTimeLine(isBusy: () => boolean): {
  readonly timeLine: TimeLine;
  take(entry: JournalEntry): void;
} {
  const [at, drawn, gaps]: [number[], number[], number[]] = [[], [], []];
  return {
    timeLine: {
      get count() {
        return at.length;
      },
      gaps,
      atMs: (seq) => at[seq] ?? 0,
      drawnMs: (seq) => drawn[seq] ?? 0,
    },
    take({ atMs, type }) {
      const gapMs = Math.max(0, atMs - (at.at(-1) ?? 0));
      const isIdle = gapMs > MIN_GAP_MS && (type === 'resumed' || !isBusy());
      if (isIdle) gaps.push(at.length);
      at.push(atMs);
      drawn.push((drawn.at(-1) ?? 0) + (isIdle ? 0 : gapMs));
    },
  };
}
