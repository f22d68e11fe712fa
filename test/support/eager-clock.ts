import type { Timers } from '../../src/internal/async.ts';

interface Timer {
  readonly dueMs: number;
  readonly fn: () => void;
}

/** Returns a clock whose time passes as soon as nothing else happens: in each turn of the event loop, the next timer elapses. */
export function eagerClock(): Timers & { readonly now: () => number } {
  let nowMs = 0;
  let isScheduled = false;
  const timers = new Set<Timer>();
  const schedule = (): void => {
    if (isScheduled || timers.size === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      const [next] = [...timers].sort((one, other) => one.dueMs - other.dueMs);
      if (next === undefined) return;
      timers.delete(next);
      nowMs = next.dueMs;
      next.fn();
      schedule();
    });
  };
  return {
    now: () => nowMs,
    setTimeout(fn, timeoutMs) {
      const timer = { dueMs: nowMs + timeoutMs, fn };
      timers.add(timer);
      schedule();
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer as Timer),
  };
}
