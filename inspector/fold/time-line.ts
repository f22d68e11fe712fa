import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { EntryOf } from './entry-index.ts';

/** Only longer idle gaps are shortened. */
export const MIN_GAP_MS = 1_000;
/** A run was stopped if the start of its clock moved by more than this. */
const MIN_STOP_MS = 100;

/** The time of each entry, with and without the long gaps in which nothing was running. */
export interface TimeLine {
  readonly count: number;
  /** Milliseconds from the start on the clock of the run, which may stand still while no process holds the run. */
  atMs(seq: number): number;
  /** Milliseconds from the start on the wall clock, without the time between the original and a fork. */
  wallMs(seq: number): number;
  /** How long the clock stood still in what a fork has copied; otherwise 0. */
  readonly copiedStopMs: number;
  /** Milliseconds from the start on the wall clock, without the gaps. An axis draws them with widths of its own. */
  drawnMs(seq: number): number;
  /** The entries before which there was a gap. */
  readonly gaps: readonly number[];
  /** The length of the gap before one of them. The clock of a run does not count some gaps, such as the time between its original and a fork. */
  gapMs(seq: number): number;
}

/** `isBusy` returns whether a call was running before the taken entry. The time before a resumed run continues is idle. */
export function createTimeLine(isBusy: () => boolean): {
  readonly timeLine: TimeLine;
  take(entry: JournalEntry): void;
} {
  const [at, wall, drawn, gaps]: [number[], number[], number[], number[]] = [[], [], [], []];
  const lengths = new Map<number, number>();
  /** The start of the clock, in milliseconds since the epoch. */
  let zeroMs = Number.NaN;
  let stoodStillMs = 0;
  let forkedAt: string | null = null;
  let copiedStopMs = 0;

  /** Returns by how many milliseconds an entry moves the start of the clock. */
  function stoppedMs(entry: JournalEntry): number {
    if (entry.type !== 'start' && entry.type !== 'resumed') return 0;
    const before = zeroMs;
    const { startedAt, resumedAt, atMs } = entry as Partial<EntryOf<'start'> & EntryOf<'resumed'>> & { atMs: number };
    zeroMs = entry.type === 'start' ? Date.parse(startedAt ?? '') : Date.parse(resumedAt ?? '') - atMs;
    return Math.max(0, zeroMs - before) || 0;
  }

  return {
    timeLine: {
      get count() {
        return at.length;
      },
      get copiedStopMs() {
        return copiedStopMs;
      },
      gaps,
      gapMs: (seq) => lengths.get(seq) ?? 0,
      atMs: (seq) => at[seq] ?? 0,
      wallMs: (seq) => wall[seq] ?? 0,
      drawnMs: (seq) => drawn[seq] ?? 0,
    },
    take(entry) {
      const { atMs, type } = entry;
      const passedMs = Math.max(0, atMs - (at.at(-1) ?? 0));
      const stopped = stoppedMs(entry);
      const isStop = stopped > MIN_STOP_MS;
      const isIdle = isStop || (passedMs > MIN_GAP_MS && (type === 'resumed' || !isBusy()));
      if (isIdle) {
        lengths.set(at.length, passedMs + (isStop ? stopped : 0));
        gaps.push(at.length);
      }
      if (type === 'start') forkedAt = (entry.forkedFrom as { readonly forkedAt?: string } | null)?.forkedAt ?? null;
      if (type === 'resumed' && forkedAt !== null && entry.resumedAt >= forkedAt)
        [forkedAt, copiedStopMs] = [null, stoodStillMs];
      else stoodStillMs += stopped;
      at.push(atMs);
      wall.push(atMs + stoodStillMs);
      drawn.push((drawn.at(-1) ?? 0) + (isIdle ? 0 : passedMs));
    },
  };
}
