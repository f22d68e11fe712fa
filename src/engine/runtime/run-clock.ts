import type { Clock } from '../clock.ts';

/** The clock of a run: it stands still until `start`, so that time in a queue, or in which no process ran the run, does not count. */
export interface RunClock extends Clock {
  /** The milliseconds of the run so far. */
  readonly elapsedMs: () => number;
  start(): void;
}

/** `alreadyMs` is the time that has passed in an earlier process. */
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
