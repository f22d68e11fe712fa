import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PendingOutcome } from '../../../../src/integrations/restate/cluster.ts';
import { createTimers } from '../../../../src/integrations/restate/timers.ts';

/** Timers on a cluster that records its sleeps. */
function setUpTimers() {
  const time = { nowMs: 0 };
  const due = new Map<number, { readonly number: number; readonly dueMs: number }>();
  const sleeps: number[] = [];
  const endsAt = new Map<PendingOutcome, number>();
  const sleep = (untilMs: number): PendingOutcome => {
    const pending = {} as unknown as PendingOutcome;
    sleeps.push(untilMs);
    endsAt.set(pending, untilMs);
    return pending;
  };
  const timers = createTimers({ sleep }, () => due);
  return {
    time,
    sleeps,
    endsAt,
    pending: () => timers.pending(time.nowMs),
    endSleep: () => {
      const endMs = timers.endSleep();
      time.nowMs = Math.max(time.nowMs, endMs);
      return timers.due((dueMs) => dueMs <= endMs);
    },
    wait: (number: number, waitMs: number) => void due.set(number, { number, dueMs: time.nowMs + waitMs }),
    cancel: (timer: number): boolean => due.delete(timer),
  };
}

describe('createTimers', () => {
  it('sleeps until the next due timer, and only if there is one', () => {
    const { time, sleeps, pending, endSleep, wait, cancel } = setUpTimers();
    expect(pending()).toEqual([]);
    wait(0, 500);
    wait(1, 200);
    expect(pending()).toHaveLength(1);
    expect(sleeps).toEqual([200]);
    expect(endSleep()).toEqual([1]);
    expect(time.nowMs).toBe(200);
    cancel(1);
    pending();
    expect(sleeps).toEqual([200, 500]);
  });

  it('reuses a sleep that ends soon enough', () => {
    const { time, sleeps, pending, wait, cancel } = setUpTimers();
    for (let timer = 0; timer < 50; timer += 1) {
      wait(timer, 200);
      pending();
      time.nowMs += 1;
      cancel(timer);
    }
    expect(sleeps).toEqual([200]);
  });

  it('does not wait for a sleep that has already ended', () => {
    const { time, sleeps, pending, wait, cancel } = setUpTimers();
    wait(0, 100);
    pending();
    cancel(0);
    time.nowMs = 2000;
    wait(1, 50);
    pending();
    expect(sleeps).toEqual([100, 2050]);
  });

  it('sleeps for a year at most, as often as a delay needs', () => {
    const { time, sleeps, pending, endSleep, wait } = setUpTimers();
    const yearMs = 365 * 24 * 60 * 60 * 1_000;
    wait(0, yearMs + 500);
    for (const due of [[], [0]]) {
      pending();
      expect(endSleep()).toEqual(due);
    }
    expect([time.nowMs, sleeps]).toEqual([yearMs + 500, [yearMs, yearMs + 500]]);
  });

  it('sleeps for whole milliseconds until a time with a fraction has passed', () => {
    const { sleeps, pending, endSleep, wait } = setUpTimers();
    wait(0, 0.5);
    pending();
    expect(sleeps).toEqual([1]);
    expect(endSleep()).toEqual([0]);
  });

  it('fires every timer once, never early, and in order, whatever is set and canceled', () => {
    const act = fc.record({
      // Timers with a fraction fire together, after the same sleep.
      waitMs: fc.nat(80).map((quarters) => quarters / 4),
      isCanceled: fc.boolean(),
      passMs: fc.constantFrom(0, 1, 30),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const { time, endsAt, pending, endSleep, wait, cancel } = setUpTimers();
        const dueMs = new Map<number, number>();
        const fired: number[] = [];
        const wakeOnce = (): boolean => {
          const [next] = pending();
          if (next === undefined) return false;
          time.nowMs = Math.max(time.nowMs, endsAt.get(next) ?? 0);
          const due = endSleep().filter(cancel);
          const places = due.map((timer) => [dueMs.get(timer) ?? Number.POSITIVE_INFINITY, timer] as const);
          expect(places).toEqual(places.toSorted(([one, first], [other, second]) => one - other || first - second));
          for (const [ms] of places) expect(time.nowMs).toBeGreaterThanOrEqual(ms);
          fired.push(...due);
          return true;
        };
        acts.forEach(({ waitMs, isCanceled, passMs }, timer) => {
          wait(timer, waitMs);
          if (isCanceled) cancel(timer);
          else dueMs.set(timer, time.nowMs + waitMs);
          pending();
          time.nowMs += passMs;
          if (timer % 3 === 0) wakeOnce();
        });
        for (let wakes = 0; wakeOnce(); wakes += 1) if (wakes > 1000) throw new Error('it never ends');
        expect([...fired].sort((one, other) => one - other)).toEqual([...dueMs.keys()]);
      }),
      { examples: [[[5, 0.75, 0.25].map((waitMs) => ({ waitMs, isCanceled: false, passMs: 0 }))]] },
    );
  });
});
