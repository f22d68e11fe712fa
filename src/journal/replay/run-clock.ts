import type { Clock } from '../../engine/clock.ts';

/** The clock of a run that goes on: it stood still while nobody ran it. */
export interface RunClock extends Clock {
  /** Milliseconds from the start of the run. */
  readonly sinceStartMs: () => number;
}

export function runClock(clock: Clock, startedAtMs: number, stoodAtMs: number): RunClock {
  const resumedAtMs = clock.now();
  const sinceStartMs = (): number => stoodAtMs + clock.now() - resumedAtMs;
  return {
    now: () => startedAtMs + sinceStartMs(),
    setTimeout: (fn, timeoutMs) => clock.setTimeout(fn, timeoutMs),
    clearTimeout: (id) => clock.clearTimeout(id),
    sinceStartMs,
  };
}
