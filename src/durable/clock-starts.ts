import type { DurableEntry } from './entries.ts';

/** When the actor's clock stood at 0, in milliseconds since the epoch, in the process that started the timers from a number on. */
export interface ClockStart {
  readonly firstTimer: number;
  readonly atMs: number;
}

/**
 * Returns the times at which an actor's clock was at 0, for each process and each pause before the start. If the clock excludes the time
 * without a process, each is later than the last. The past of a fork uses the fork's clock, with no time between processes.
 */
export function clockStartsIn(entries: readonly DurableEntry[], clockStartMs: number): readonly ClockStart[] {
  const starts: ClockStart[] = [{ firstTimer: 0, atMs: clockStartMs }];
  let timers = 0;
  for (const entry of entries) {
    if (entry.type === 'timer-start') timers = entry.timer + 1;
    if (entry.type !== 'resumed') continue;
    const { atMs } = starts.at(-1) as ClockStart;
    starts.push({ firstTimer: timers, atMs: Math.max(atMs, Date.parse(entry.resumedAt) - entry.atMs) });
  }
  return starts;
}

/** Returns when the clock stood at 0 in the process that started a timer. */
export const clockStartFor = (starts: readonly ClockStart[], timer: number): number =>
  starts.findLast(({ firstTimer }) => firstTimer <= timer)?.atMs ?? 0;
