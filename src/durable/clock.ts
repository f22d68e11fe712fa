import { nextTurn } from '../internal/async.ts';
import { createTurns, type TakeTurn } from './turns.ts';

/** XState's clock interface plus the current time: milliseconds since the epoch, or since 0 if simulated. It never goes backward. */
export interface Clock {
  now(): number;
  setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number): unknown;
  clearTimeout(id: unknown): void;
  /**
   * Executes `act` now or, so that due timers can fire first, in a later turn of the event loop. Without it, everything is executed at
   * once, as simulated time requires.
   */
  readonly takeTurn?: TakeTurn;
}

/** How long the runs of a process may keep the event loop busy before timers get their turn. */
const TURN_BUDGET_MS = 8;

/** Constant, but slow to read. */
const { timeOrigin } = performance;

export const systemClock: Clock = {
  now: () => timeOrigin + performance.now(),
  setTimeout: (fn, timeoutMs) => setTimeout(fn, timeoutMs),
  clearTimeout: (id) => clearTimeout(id as ReturnType<typeof setTimeout>),
  takeTurn: createTurns({
    now: () => performance.now(),
    defer: (act) => void nextTurn().then(act),
    budgetMs: TURN_BUDGET_MS,
  }),
};

/** Smaller jumps of the time of day are taken for adjustments (NTP), not for a suspension. */
const MIN_SUSPENSION_MS = 5_000;

/**
 * Returns a system clock that also advances while the computer is suspended. Any forward jump of the time of day by five seconds or more counts
 * as a suspension.
 */
function createWallClock(): Clock {
  let suspendedMs = 0;
  return {
    ...systemClock,
    now() {
      const nowMs = systemClock.now() + suspendedMs;
      const missingMs = Date.now() - nowMs;
      if (missingMs < MIN_SUSPENSION_MS) return nowMs;
      suspendedMs += missingMs;
      return nowMs + missingMs;
    },
  };
}

/** Returns the clock of a store, which all processes share, or that of this process. */
export const wallClockOf = ({ clock = createWallClock() }: { readonly clock?: Clock }): Clock => clock;

/** Returns a function that executes `act` when the clock gives it its turn. */
export const takeTurnOf = ({ takeTurn = (act) => act() }: Clock): TakeTurn => takeTurn;

/** Executes `act` in the next turn of the event loop, or at once if the clock is simulated. */
export function inNextTurnOf({ takeTurn }: Clock, act: () => void): void {
  if (takeTurn === undefined) act();
  else void nextTurn().then(act);
}
