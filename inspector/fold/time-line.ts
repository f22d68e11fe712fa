import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { EntryOf } from './entry-index.ts';

/** Only longer idle gaps are shortened. */
export const MIN_GAP_MS = 1_000;
/** A run was stopped if the start of its clock moved by more than this. */
const MIN_STOP_MS = 100;

/** The time of each entry, with and without the long gaps in which nothing was running. */
export class TimeLine {
  readonly #at: number[] = [];
  readonly #wall: number[] = [];
  readonly #drawn: number[] = [];
  readonly #lengths = new Map<number, number>();
  readonly #isBusy: () => boolean;
  /** The start of the clock, in milliseconds since the epoch. */
  #zeroMs = Number.NaN;
  #stoodStillMs = 0;
  #forkedAt: string | null = null;
  #forkedMs = 0;
  /** The entries before which there was a gap. */
  readonly gaps: number[] = [];
  /** The entry with which a fork continues what it has copied; null if it is not a fork, or if that is not recorded. */
  forkStart: number | null = null;
  /** How long the clock stood still in the entries that a fork has copied; 0 for other runs. */
  copiedStopMs = 0;

  /** `isBusy` returns whether a call was running before the taken entry. The time before a resumed run continues is idle. */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  get count(): number {
    return this.#at.length;
  }

  /** Milliseconds from the start on the clock of the run, which may stand still while no process holds the run. */
  readonly atMs = (seq: number): number => this.#at[seq] ?? 0;
  /** Milliseconds from the start on the wall clock, without the time between the original and a fork. */
  readonly wallMs = (seq: number): number => this.#wall[seq] ?? 0;
  /** Milliseconds from the start on the wall clock, without the gaps. An axis draws them with widths of its own. */
  readonly drawnMs = (seq: number): number => this.#drawn[seq] ?? 0;
  /** The length of the gap before an entry. The clock of a run does not count some gaps, such as the time between its original and a fork. */
  readonly gapMs = (seq: number): number => this.#lengths.get(seq) ?? 0;

  /** Milliseconds on the wall clock from one entry to a later one, with the time between the original and a fork. */
  passedMs(from: number, to: number): number {
    const isAcross = this.forkStart !== null && from < this.forkStart && to >= this.forkStart;
    return this.wallMs(to) - this.wallMs(from) + (isAcross ? this.#forkedMs : 0);
  }

  /** Returns by how many milliseconds an entry moves the start of the clock. */
  #stoppedMs(entry: JournalEntry): number {
    if (entry.type !== 'start' && entry.type !== 'resumed') return 0;
    const before = this.#zeroMs;
    const { startedAt, resumedAt, atMs } = entry as Partial<EntryOf<'start'> & EntryOf<'resumed'>> & { atMs: number };
    this.#zeroMs = entry.type === 'start' ? Date.parse(startedAt ?? '') : Date.parse(resumedAt ?? '') - atMs;
    return Math.max(0, this.#zeroMs - before) || 0;
  }

  take(entry: JournalEntry): void {
    const { atMs, type } = entry;
    const passedMs = Math.max(0, atMs - this.atMs(this.count - 1));
    const stopped = this.#stoppedMs(entry);
    const isFork = type === 'resumed' && this.#forkedAt !== null && entry.resumedAt >= this.#forkedAt;
    // The phase in which a fork begins is drawn across that gap.
    const isStop = stopped > (isFork ? MIN_GAP_MS : MIN_STOP_MS);
    const isIdle = isStop || (passedMs > MIN_GAP_MS && (type === 'resumed' || !this.#isBusy()));
    if (isIdle) {
      this.#lengths.set(this.count, passedMs + (isStop ? stopped : 0));
      this.gaps.push(this.count);
    }
    if (type === 'start')
      this.#forkedAt = (entry.forkedFrom as { readonly forkedAt?: string } | null)?.forkedAt || null;
    if (isFork) {
      [this.#forkedAt, this.copiedStopMs] = [null, this.#stoodStillMs];
      [this.forkStart, this.#forkedMs] = [this.count, stopped];
    } else this.#stoodStillMs += stopped;
    this.#drawn.push(this.drawnMs(this.count - 1) + (isIdle ? 0 : passedMs));
    this.#at.push(atMs);
    this.#wall.push(atMs + this.#stoodStillMs);
  }
}
