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

/** Returns a clock whose time passes only while a test pauses before it reads a page again, so that no busy machine makes it late. */
export function pausesClock(longestPauseMs = 100): Timers {
  let nowMs = 0;
  const timers = new Set<Timer>();
  return {
    setTimeout(fn, timeoutMs) {
      const timer = { dueMs: nowMs + timeoutMs, fn };
      timers.add(timer);
      if (timeoutMs <= longestPauseMs)
        setImmediate(() => {
          nowMs = Math.max(nowMs, timer.dueMs);
          for (const due of [...timers].filter(({ dueMs }) => dueMs <= nowMs)) {
            timers.delete(due);
            due.fn();
          }
        });
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer as Timer),
  };
}
