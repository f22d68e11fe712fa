import type { DurableEntry } from './entries.ts';

/** When the actor's clock stood at 0, in milliseconds since the epoch, in the process that started the timers from a number on. */
export interface ClockStart {
  readonly firstTimer: number;
  readonly atMs: number;
}

/**
 * Returns when the clock of an actor stood at 0 in each of its processes. A clock that leaves out the time without a process starts later in
 * each. In the past of a fork, it is the clock of the fork: no time elapses in between.
 */
export function clockStartsIn(entries: readonly DurableEntry[], clockStartMs: number): readonly ClockStart[] {
  const starts: ClockStart[] = [{ firstTimer: 0, atMs: clockStartMs }];
  let timers = 0;
  for (const entry of entries) {
    if (entry.type === 'timer-start') timers = entry.timer + 1;
    const at = entry.type === 'resumed' ? entry.resumedAt : entry.type === 'closed' ? entry.closedAt : null;
    if (at === null) continue;
    const last = starts.at(-1) as ClockStart;
    const start = { ...last, atMs: Math.max(last.atMs, Date.parse(at) - entry.atMs) };
    // A process that waits before it begins starts its clock late, and only its end shows when.
    if (entry.type === 'closed') starts[starts.length - 1] = start;
    else starts.push({ ...start, firstTimer: timers });
  }
  return starts;
}

/** Returns when the clock stood at 0 in the process that started a timer. */
export const clockStartFor = (starts: readonly ClockStart[], timer: number): number =>
  starts.findLast(({ firstTimer }) => firstTimer <= timer)?.atMs ?? 0;
