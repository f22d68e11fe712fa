import type { DurableActorSystem, Timer } from './actor-system.ts';
import type { Clock } from './clock.ts';
import { type DurableEntry, isExternal } from './entries.ts';

export interface TimekeeperOptions {
  readonly clock: Clock;
  /** When the actor's clock was at 0, in milliseconds since the epoch. */
  readonly clockStartMs: number;
  /** Whether the actor's clock includes the time while no process holds the actor. */
  readonly doesTimeCount: boolean;
  /** Whether the delay of an event includes that time. */
  readonly counts: (event: string) => boolean;
  readonly parkAfterMs: number;
}

/** Longer waits are split, so that a timer that came due while the computer was suspended fires within a minute of waking up. */
const MAX_WAIT_MS = 60_000;

/** Shorter pauses before the start are not recorded. After a crash, deadlines for users end earlier by that time. */
const RECORDED_PAUSE_MS = 1_000;

/** When the actor's clock was at 0, in milliseconds since the epoch, in the process that started `firstTimer` and later timers. */
interface ClockStart {
  readonly firstTimer: number;
  readonly atMs: number;
}

/** The time of one actor in this process, in milliseconds since its start, and which of its timers are due. It never goes back. */
export class Timekeeper {
  /** The time of the last step, and of its entries. */
  atMs: number;
  /** Since when the actor waits, in milliseconds since the epoch. */
  sinceMs: number;
  readonly #options: TimekeeperOptions;
  readonly #system: Pick<DurableActorSystem, 'timers' | 'timerCount'>;
  #openedAtMs: number;
  #offsetMs: number;
  /** For the timers of earlier processes. */
  readonly #clockStarts: readonly ClockStart[];
  readonly #firstOwnTimer: number;
  /** The timers below this number may fire. Those that start later wait for a turn of the event loop, as with `setTimeout`. */
  #firstUnarmed: number;
  /** Since when the actor only waits; null if it does not. */
  #idleSinceMs: number | null = null;
  #wait: unknown;

  /** `firstOwnTimer`: the first timer of a step that an earlier process did not store. */
  constructor(
    system: Pick<DurableActorSystem, 'timers' | 'timerCount'>,
    entries: readonly DurableEntry[],
    options: TimekeeperOptions,
    firstOwnTimer: number = system.timerCount,
  ) {
    this.#system = system;
    this.#options = options;
    this.#firstOwnTimer = firstOwnTimer;
    this.#firstUnarmed = entries.length === 0 ? 0 : system.timerCount;
    this.atMs = entries.at(-1)?.atMs ?? 0;
    this.#openedAtMs = options.clock.now();
    const elapsedMs = this.#openedAtMs - options.clockStartMs;
    // If the clock of an earlier process was ahead, only the time since the last process closed the actor counts.
    const awayMs = elapsedMs < this.atMs ? Math.max(0, this.#openedAtMs - leftAtMs(entries)) : elapsedMs - this.atMs;
    this.#offsetMs = this.atMs + (options.doesTimeCount ? awayMs : 0);
    this.#clockStarts = clockStartsIn(entries, options.clockStartMs);
    this.sinceMs = sinceIn(entries) ?? Math.floor(this.#openedAtMs);
  }

  get nowMs(): number {
    return this.#at(this.#options.clock.now());
  }

  /** Begins a step: the actor no longer only waits. */
  beginStep(): void {
    const now = this.#options.clock.now();
    this.atMs = this.#at(now);
    this.sinceMs = Math.floor(now);
  }

  /** Ends the pause before the start, which counts only if time without a process does. Returns its end in ISO 8601 if it was long. */
  endPause(): string | null {
    const { clock, doesTimeCount } = this.#options;
    if (doesTimeCount) return null;
    const now = clock.now();
    const pauseMs = now - this.#openedAtMs;
    this.#openedAtMs = now;
    this.#offsetMs = this.atMs;
    return pauseMs >= RECORDED_PAUSE_MS ? new Date(now).toISOString() : null;
  }

  /** Converts a time of the actor to milliseconds since the epoch. */
  atEpoch(ms: number): number {
    return Math.floor(this.#options.clock.now()) + ms - this.nowMs;
  }

  /** When a timer is due. The clock may leave out time without a process that counts for the timer. */
  dueMsOf({ number, event, dueMs }: Timer): number {
    const { doesTimeCount, counts } = this.#options;
    if (doesTimeCount || number >= this.#firstOwnTimer || !counts(event)) return dueMs;
    return dueMs + clockStartFor(this.#clockStarts, number) - (this.#openedAtMs - this.#offsetMs);
  }

  /** When the next timer is due; Infinity if there is none. */
  get nextDueMs(): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#system.timers.values()) nextMs = Math.min(nextMs, this.dueMsOf(timer));
    return nextMs;
  }

  /**
   * Returns the number of the timer that fires before an event that arrived at this time; undefined for none. Timers that were due before an
   * event come first, even if the event loop is late.
   */
  dueBefore(arrivedMs: number | undefined): number | undefined {
    let first: number | undefined;
    let firstMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#system.timers.values()) {
      const dueMs = this.dueMsOf(timer);
      if (dueMs < firstMs) [first, firstMs] = [timer.number, dueMs];
    }
    if (first === undefined || firstMs > this.nowMs) return undefined;
    const isFirst = arrivedMs === undefined ? first < this.#firstUnarmed : firstMs < arrivedMs;
    return isFirst ? first : undefined;
  }

  /** The actor has something to do. */
  endIdleness(): void {
    this.#idleSinceMs = null;
  }

  /** Calls `wake` when the next timer is due, or when the actor, if it only waits, has to park. Replaces the wait before. */
  waitForNext(onlyWaits: () => boolean, wake: () => void): void {
    const { clock, parkAfterMs } = this.#options;
    this.stopWaiting();
    if (Number.isFinite(parkAfterMs)) this.#idleSinceMs = onlyWaits() ? (this.#idleSinceMs ?? this.nowMs) : null;
    const dueMs = Math.min(this.nextDueMs, this.#parkMs);
    if (!Number.isFinite(dueMs)) return;
    const waitMs = Math.min(MAX_WAIT_MS, Math.max(0, dueMs - this.nowMs));
    this.#wait = clock.setTimeout(() => {
      this.#firstUnarmed = this.#system.timerCount;
      wake();
    }, waitMs);
  }

  stopWaiting(): void {
    if (this.#wait !== undefined) this.#options.clock.clearTimeout(this.#wait);
    this.#wait = undefined;
  }

  /** Whether the actor has only waited for so long that it parks. */
  get mustPark(): boolean {
    return this.#parkMs <= this.nowMs;
  }

  get #parkMs(): number {
    return this.#idleSinceMs === null ? Number.POSITIVE_INFINITY : this.#idleSinceMs + this.#options.parkAfterMs;
  }

  #at(now: number): number {
    return Math.max(this.atMs, Math.floor(now - this.#openedAtMs + this.#offsetMs));
  }
}

/** Returns when the last process closed the actor or, if it was killed, resumed it, by its own clock. Infinity if neither is recorded. */
function leftAtMs(entries: readonly DurableEntry[]): number {
  const last = entries.findLast((entry) => entry.type === 'closed' || entry.type === 'resumed');
  if (last === undefined) return Number.POSITIVE_INFINITY;
  return Date.parse(last.type === 'closed' ? last.closedAt : last.resumedAt);
}

/** Returns since when an actor has only waited, if no event has arrived since it was closed; otherwise null. */
function sinceIn(entries: readonly DurableEntry[]): number | null {
  const last = entries.findLast((entry) => entry.type === 'closed' || isExternal(entry));
  return last?.type === 'closed' ? (last.waiting?.sinceMs ?? null) : null;
}

/**
 * Returns the times at which an actor's clock was at 0, for each process and each pause before the start. If the clock excludes the time
 * without a process, each is later than the last. The past of a fork uses the fork's clock, with no time between processes.
 */
function clockStartsIn(entries: readonly DurableEntry[], clockStartMs: number): readonly ClockStart[] {
  const starts: { firstTimer: number; readonly atMs: number }[] = [{ firstTimer: 0, atMs: clockStartMs }];
  let timers = 0;
  for (const entry of entries) {
    const last = starts.at(-1) as (typeof starts)[number];
    if (entry.type === 'timer-start') {
      timers = entry.timer + 1;
      // An earlier process may have started it in a step that was withdrawn.
      last.firstTimer = Math.min(last.firstTimer, entry.timer);
    }
    if (entry.type !== 'resumed') continue;
    starts.push({ firstTimer: timers, atMs: Math.max(last.atMs, Date.parse(entry.resumedAt) - entry.atMs) });
  }
  return starts;
}

/** Returns when the clock was at 0 in the process that started a timer. */
const clockStartFor = (starts: readonly ClockStart[], timer: number): number =>
  starts.findLast(({ firstTimer }) => firstTimer <= timer)?.atMs ?? 0;
