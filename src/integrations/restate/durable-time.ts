/**
 * The time of a run that is played again: it goes by what was written down with the outcomes, never by a clock, and never back, whatever
 * the clocks of two machines say.
 */
export interface DurableTime {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  reach(atMs: number): void;
}

export function createDurableTime(startedAtMs: number): DurableTime {
  let nowMs = startedAtMs;
  return {
    get nowMs() {
      return nowMs;
    },
    reach(atMs) {
      nowMs = Math.max(nowMs, atMs);
    },
  };
}
