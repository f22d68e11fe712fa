import { setTimeout as wait } from 'node:timers/promises';

/** How many things a process does at a time. */
export const CONCURRENCY = 50;

/**
 * Calls `act` again and again, `CONCURRENCY` at a time, and returns how often. `act` receives the number of the call.
 *
 * @param {number} forMs
 * @param {(number: number) => Promise<unknown>} act
 */
export async function repeatFor(forMs, act) {
  const untilMs = performance.now() + forMs;
  let count = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (performance.now() < untilMs) await act(count++);
    }),
  );
  return count;
}

/**
 * Calls `act` at a rate, whether or not earlier calls have ended, and returns the latency of each in milliseconds, counted from when it was due.
 *
 * @param {{ perSecond: number, forMs: number }} load
 * @param {(number: number) => Promise<unknown>} act
 */
export async function atRate({ perSecond, forMs }, act) {
  /** @type {number[]} */
  const latencies = [];
  /** @type {Promise<unknown>[]} */
  const pending = [];
  const startedAt = performance.now();
  for (let number = 0; ; number += 1) {
    const dueAt = startedAt + (number * 1_000) / perSecond;
    if (dueAt - startedAt > forMs) break;
    const restMs = dueAt - performance.now();
    if (restMs > 0) await wait(restMs);
    pending.push(act(number).then(() => void latencies.push(performance.now() - dueAt)));
  }
  await Promise.all(pending);
  return latencies;
}

/** Returns the resident set after a full collection, in bytes. */
export function memory() {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
