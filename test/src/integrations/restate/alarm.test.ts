import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDurableTime } from '../../../../src/integrations/restate/durable-time.ts';
import type { Pending } from '../../../../src/integrations/restate/host.ts';
import { createAlarm } from '../../../../src/integrations/restate/restate-executor.ts';

/** An alarm whose sleeps are known by when they end. */
function createRig(startedAtMs = 1000) {
  const time = createDurableTime(startedAtMs);
  const sleeps: number[] = [];
  const endsAt = new Map<Pending, number>();
  const sleep = (ms: number): Pending => {
    const pending = {} as unknown as Pending;
    sleeps.push(ms);
    endsAt.set(pending, time.nowMs + ms);
    return pending;
  };
  return { time, sleeps, endsAt, alarm: createAlarm({ sleep }, time) };
}

describe('the alarm', () => {
  it('sleeps for the timer that is due next, and for no timer not at all', () => {
    const { alarm, sleeps, time } = createRig();
    expect(alarm.pending()).toEqual([]);
    alarm.wait(0, 500);
    alarm.wait(1, 200);
    expect(alarm.pending()).toHaveLength(1);
    expect(sleeps).toEqual([200]);
    expect(alarm.ring()).toEqual([1]);
    expect(time.nowMs).toBe(1200);
    expect(alarm.take(1)).toBe(true);
    alarm.pending();
    expect(sleeps).toEqual([200, 300]);
  });

  it('makes no further sleep where one that was made already ends soon enough', () => {
    const { alarm, sleeps, time } = createRig();
    alarm.wait(0, 200)();
    for (let timer = 1; timer < 50; timer += 1) {
      const takeBack = alarm.wait(timer, 200);
      alarm.pending();
      time.reach(time.nowMs + 1);
      takeBack();
    }
    expect(sleeps).toEqual([200]);
  });

  it('does not wait for a sleep that is over by the time, and would ring for nobody', () => {
    const { alarm, sleeps, time } = createRig();
    const takeBack = alarm.wait(0, 100);
    alarm.pending();
    takeBack();
    time.reach(2000);
    alarm.wait(1, 50);
    alarm.pending();
    expect(sleeps).toEqual([100, 50]);
  });

  it('fires those that time has passed by in the order in which they were due', () => {
    const { alarm, time } = createRig();
    alarm.wait(0, 300);
    alarm.wait(1, 100);
    alarm.wait(2, 200);
    alarm.pending();
    time.reach(5000);
    expect(alarm.ring()).toEqual([1, 2, 0]);
  });

  it('goes by a time that never goes back', () => {
    const { time } = createRig(1000);
    time.reach(3000);
    time.reach(2000);
    expect(time.nowMs).toBe(3000);
  });

  it('fires timers that are due together in the order in which they are, and not one that is taken back by another', () => {
    const { alarm } = createRig();
    alarm.wait(0, 300);
    const takeBack = alarm.wait(1, 300);
    alarm.wait(2, 100);
    alarm.pending();
    expect(alarm.ring()).toEqual([2]);
    alarm.take(2);
    alarm.pending();
    expect(alarm.ring()).toEqual([0, 1]);
    alarm.take(0);
    takeBack();
    expect(alarm.take(1)).toBe(false);
  });

  it('fires every timer once, never early, and in order, whatever is set and taken back', () => {
    const act = fc.record({
      waitMs: fc.integer({ min: 0, max: 50 }),
      isTakenBack: fc.boolean(),
      passMs: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const { alarm, time, endsAt } = createRig(0);
        const dueMs = new Map<number, number>();
        const fired: number[] = [];
        const ringOnce = (): boolean => {
          const [pending] = alarm.pending();
          if (pending === undefined) return false;
          time.reach(endsAt.get(pending) ?? 0);
          for (const timer of alarm.ring()) {
            if (!alarm.take(timer)) continue;
            fired.push(timer);
            expect(time.nowMs).toBeGreaterThanOrEqual(dueMs.get(timer) ?? Number.POSITIVE_INFINITY);
          }
          return true;
        };
        acts.forEach(({ waitMs, isTakenBack, passMs }, timer) => {
          const takeBack = alarm.wait(timer, waitMs);
          if (isTakenBack) takeBack();
          else dueMs.set(timer, time.nowMs + waitMs);
          alarm.pending();
          time.reach(time.nowMs + passMs);
          if (timer % 3 === 0) ringOnce();
        });
        for (let rings = 0; ringOnce(); rings += 1) if (rings > 1000) throw new Error('it rings for ever');
        expect([...fired].sort((one, other) => one - other)).toEqual([...dueMs.keys()]);
      }),
    );
  });
});
