import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Timer } from '../../../src/durable/actor-system.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import { Timekeeper, type TimekeeperOptions } from '../../../src/durable/timekeeper.ts';

/** A timekeeper on a clock that stands at 1,000 ms, of an actor that started at 1,000 ms. */
function setUp(
  options: Partial<TimekeeperOptions> = {},
  { entries = [], dueMs = [] }: { readonly entries?: readonly DurableEntry[]; readonly dueMs?: readonly number[] } = {},
) {
  const clock = new SimulatedClock();
  clock.set(1_000);
  const timers = new Map<number, Timer>();
  const system = { timers, timerCount: 0 };
  const addTimer = (ms: number, event = 'xstate.after'): void => {
    const number = system.timerCount;
    system.timerCount += 1;
    timers.set(number, { number, path: '', event, dueMs: ms, scheduled: null, fire: () => {} });
  };
  for (const ms of dueMs) addTimer(ms);
  const all = {
    clock,
    clockStartMs: 1_000,
    doesTimeCount: true,
    counts: () => true,
    parkAfterMs: Number.POSITIVE_INFINITY,
    ...options,
  };
  return { clock, timers, addTimer, time: new Timekeeper(system, entries, all) };
}

const stopped = (atMs: number): DurableEntry => ({ seq: 0, atMs, type: 'stopped' });

describe('a timekeeper', () => {
  it('counts from the start of the actor, in whole milliseconds, and never goes back', () => {
    const { clock, time } = setUp();
    clock.increment(20.7);
    expect([time.nowMs, time.atMs]).toEqual([20, 0]);
    time.beginStep();
    expect([time.atMs, time.sinceMs, time.atEpoch(30)]).toEqual([20, 1_020, 1_030]);
    const clockThatWentBack = setUp({}, { entries: [stopped(20)] });
    expect(clockThatWentBack.time.nowMs).toBe(20);
  });

  it('continues at the last entry, with the time without a process only if that counts', () => {
    const entries = [stopped(40)];
    expect(setUp({ clockStartMs: 0 }, { entries }).time.nowMs).toBe(1_000);
    expect(setUp({ clockStartMs: 0, doesTimeCount: false }, { entries }).time.nowMs).toBe(40);
  });

  it('counts from when the last process closed the actor if its clock was ahead', () => {
    const closed = { seq: 1, atMs: 5_000, type: 'closed', closedAt: new Date(700).toISOString() } as const;
    expect(setUp({ clockStartMs: 0 }, { entries: [stopped(1), closed] }).time.nowMs).toBe(5_300);
  });

  it('lets a delay that counts include the time without a process when the clock does not', () => {
    const entries: DurableEntry[] = [
      { seq: 0, atMs: 0, type: 'timer-start', timer: 0, actor: '', event: 'counts', dueMs: 100 },
      { seq: 1, atMs: 40, type: 'stopped' },
    ];
    const counts = (event: string): boolean => event === 'counts';
    const { time, addTimer } = setUp({ clockStartMs: 980, doesTimeCount: false, counts }, { entries, dueMs: [100] });
    addTimer(100, 'counts');
    const timer = (event: string, number: number) => ({ number, event, dueMs: 100 }) as Timer;
    expect(time.dueMsOf(timer('counts', 0))).toBe(100 + 980 - (1_000 - 40));
    expect(time.dueMsOf(timer('pauses', 0))).toBe(100);
    // A timer of this process has missed nothing.
    expect(time.dueMsOf(timer('counts', 1))).toBe(100);
  });

  it('lets a delay count from the process that started it in a step that replaced another', () => {
    const start = { type: 'timer-start', timer: 0, actor: '', event: 'counts', dueMs: 100 } as const;
    const entries: DurableEntry[] = [
      { seq: 0, atMs: 0, ...start },
      { seq: 1, atMs: 0, type: 'resumed', resumedAt: new Date(900).toISOString() },
      { seq: 2, atMs: 0, type: 'retried', failed: 0 },
      { seq: 3, atMs: 0, ...start },
    ];
    const { time, timers } = setUp({ clockStartMs: 0, doesTimeCount: false }, { entries, dueMs: [100] });
    // 100 ms have passed since.
    expect(time.dueMsOf(timers.get(0) as Timer)).toBe(0);
  });

  it('leaves out a pause before the start, and returns the end of a long one', () => {
    const { clock, time } = setUp({ doesTimeCount: false });
    clock.increment(999);
    expect(time.endPause()).toBeNull();
    expect(time.nowMs).toBe(0);
    clock.increment(1_000);
    expect(time.endPause()).toBe(new Date(2_999).toISOString());
    expect(time.nowMs).toBe(0);
    const counting = setUp();
    counting.clock.increment(5_000);
    expect([counting.time.endPause(), counting.time.nowMs]).toEqual([null, 5_000]);
  });

  it('lets the timer that was due first fire before an event that arrived later', () => {
    const { clock, time } = setUp({}, { dueMs: [30, 20], entries: [stopped(0)] });
    expect([time.nextDueMs, time.dueBefore(5)]).toEqual([20, undefined]);
    clock.increment(50);
    expect([time.dueBefore(10), time.dueBefore(20), time.dueBefore(21), time.dueBefore(undefined)]).toEqual([
      undefined,
      undefined,
      1,
      1,
    ]);
  });

  it('lets a timer of this process fire in a later turn only, and before any later event', () => {
    const { clock, time, addTimer } = setUp();
    addTimer(0);
    clock.increment(10);
    expect([time.dueBefore(undefined), time.dueBefore(5)]).toEqual([undefined, 0]);
    time.waitForNext(
      () => false,
      () => {},
    );
    clock.increment(1);
    expect(time.dueBefore(undefined)).toBe(0);
  });

  it('wakes the actor when a timer is due, after a minute at most, and not after it has stopped waiting', () => {
    const { clock, time } = setUp({}, { dueMs: [90_000] });
    let wakes = 0;
    const wait = (): void =>
      time.waitForNext(
        () => true,
        () => {
          wakes += 1;
          wait();
        },
      );
    wait();
    clock.increment(59_999);
    expect(wakes).toBe(0);
    clock.increment(1);
    expect(wakes).toBe(1);
    clock.increment(30_000);
    expect(wakes).toBe(2);
    time.stopWaiting();
    clock.increment(90_000);
    expect(wakes).toBe(2);
  });

  it('reports when an actor has only waited for long enough to park', () => {
    const { clock, time } = setUp({ parkAfterMs: 50 });
    let onlyWaits = true;
    const wait = (): void =>
      time.waitForNext(
        () => onlyWaits,
        () => {},
      );
    wait();
    clock.increment(30);
    wait();
    clock.increment(20);
    expect(time.mustPark).toBe(true);
    time.endIdleness();
    expect(time.mustPark).toBe(false);
    onlyWaits = false;
    wait();
    clock.increment(1_000);
    expect(time.mustPark).toBe(false);
  });
});
