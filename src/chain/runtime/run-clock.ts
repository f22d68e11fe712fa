import type { Clock } from '../../durable/clock.ts';

/** The clock of a run. It stands still until `start`, so time in a queue, or without a process, does not count. */
export interface RunClock extends Clock {
  readonly elapsedMs: () => number;
  start(): void;
}

/** `alreadyMs` is the run's duration in earlier processes. */
export function createRunClock(clock: Clock, startedAtMs: number, alreadyMs = 0): RunClock {
  let startMs: number | null = null;
  const elapsedMs = (): number => (startMs === null ? alreadyMs : alreadyMs + clock.now() - startMs);
  return {
    now: () => startedAtMs + elapsedMs(),
    setTimeout: (fn, timeoutMs) => clock.setTimeout(fn, timeoutMs),
    clearTimeout: (id) => clock.clearTimeout(id),
    ...(clock.takeTurn && { takeTurn: clock.takeTurn }),
    elapsedMs,
    start() {
      startMs ??= clock.now();
    },
  };
}
