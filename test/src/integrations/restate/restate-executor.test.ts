import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { CallEvent } from '../../../../machines/contracts/events.ts';
import {
  type CallOutcome,
  createRecordedTime,
  createRestateExecutor,
  createTimers,
  type Host,
  type Pending,
  runActivity,
} from '../../../../src/integrations/restate/restate-executor.ts';
import type { Activity } from '../../../../src/llm/activities.ts';

/** An executor on a host that only records its requests. */
function createExecutor() {
  const steps: (() => Promise<CallOutcome>)[] = [];
  const pendingOf = (what: string) => ({ what }) as unknown as Pending & { readonly what: string };
  const host: Host = {
    step(name, act) {
      steps.push(act);
      return pendingOf(name);
    },
    sleep: (ms) => pendingOf(`sleep ${ms}`),
    sent: (number) => pendingOf(`sent ${number}`),
    first: () => new Promise(() => {}),
  };
  const time = createRecordedTime(0);
  const notes: unknown[] = [];
  const append = (event: unknown) => void notes.push(event);
  const executor = createRestateExecutor({ host, time, clock: new SimulatedClock(), append });
  const waitingFor = () => executor.pending().map((pending) => (pending as Pending & { what: string }).what);
  return { executor, time, notes, steps, waitingFor };
}

const activityThat = (isWaiting: () => boolean, execute: Activity['execute'] = () => {}): Activity => ({
  actor: 'port',
  input: null,
  isWaiting,
  execute,
  onEvent: () => {},
});

describe('createRestateExecutor', () => {
  it('abandons a call that its chart no longer waits for, so that its step ends', async () => {
    const { executor, steps, waitingFor } = createExecutor();
    let isWaiting = true;
    executor.execute(
      7,
      activityThat(() => isWaiting),
    );
    executor.wait(0, 50);
    const outcome = steps[0]?.();
    expect(waitingFor()).toEqual(['sent 0', 'sleep 50', 'port 7']);
    isWaiting = false;
    expect(waitingFor()).toEqual(['sent 0', 'sleep 50']);
    expect(await outcome).toMatchObject({ call: 7, events: [] });
  });

  it('appends reported events before the result, and advances to its time', async () => {
    const { executor, steps, notes, time } = createExecutor();
    const retrieval = { type: 'retrieval', query: 'so', passages: 0, widened: false, failure: null } as const;
    executor.execute(
      0,
      activityThat(
        () => true,
        (report) => {
          executor.record?.({ type: 'text-delta', attemptId: 'a', text: 'piece' });
          executor.record?.(retrieval);
          report({ type: 'done', output: 1 });
        },
      ),
    );
    const outcome = await steps[0]?.();
    expect(notes).toEqual([]);
    const events = [...executor.take({ ...(outcome as CallOutcome), atMs: 80 })];
    expect(notes).toEqual([retrieval]);
    expect(events).toEqual([{ type: 'call-event', call: 0, actor: 'port', event: { type: 'done', output: 1 } }]);
    expect(time.nowMs).toBe(80);
  });

  it('waits for the next user event after one was sent', () => {
    const { executor, waitingFor } = createExecutor();
    const event = { type: 'run.finished' } as const;
    expect([...executor.take({ type: 'sent', id: 'one', event, atMs: 5 })]).toEqual([{ type: 'delivery', event }]);
    expect(waitingFor()).toEqual(['sent 1']);
  });
});

/** Timers on a host that records its sleeps. */
function setUpTimers(startedAtMs = 1000) {
  const time = createRecordedTime(startedAtMs);
  const sleeps: number[] = [];
  const endsAt = new Map<Pending, number>();
  const sleep = (ms: number): Pending => {
    const pending = {} as unknown as Pending;
    sleeps.push(ms);
    endsAt.set(pending, time.nowMs + ms);
    return pending;
  };
  return { time, sleeps, endsAt, timers: createTimers({ sleep }, time) };
}

describe('createTimers', () => {
  it('sleeps until the next due timer, and only if there is one', () => {
    const { timers, sleeps, time } = setUpTimers();
    expect(timers.pending()).toEqual([]);
    timers.wait(0, 500);
    timers.wait(1, 200);
    expect(timers.pending()).toHaveLength(1);
    expect(sleeps).toEqual([200]);
    expect(timers.endSleep()).toEqual([1]);
    expect(time.nowMs).toBe(1200);
    expect(timers.take(1)).toBe(true);
    timers.pending();
    expect(sleeps).toEqual([200, 300]);
  });

  it('reuses a sleep that ends soon enough', () => {
    const { timers, sleeps, time } = setUpTimers();
    timers.wait(0, 200)();
    for (let timer = 1; timer < 50; timer += 1) {
      const cancel = timers.wait(timer, 200);
      timers.pending();
      time.advanceTo(time.nowMs + 1);
      cancel();
    }
    expect(sleeps).toEqual([200]);
  });

  it('does not wait for a sleep that has already ended', () => {
    const { timers, sleeps, time } = setUpTimers();
    const cancel = timers.wait(0, 100);
    timers.pending();
    cancel();
    time.advanceTo(2000);
    timers.wait(1, 50);
    timers.pending();
    expect(sleeps).toEqual([100, 50]);
  });

  it('fires overdue timers in the order in which they were due', () => {
    const { timers, time } = setUpTimers();
    timers.wait(0, 300);
    timers.wait(1, 100);
    timers.wait(2, 200);
    timers.pending();
    time.advanceTo(5000);
    expect(timers.endSleep()).toEqual([1, 2, 0]);
  });

  it('never goes back in time', () => {
    const { time } = setUpTimers(1000);
    time.advanceTo(3000);
    time.advanceTo(2000);
    expect(time.nowMs).toBe(3000);
  });

  it('fires timers that are due together in order, except one that another cancels', () => {
    const { timers } = setUpTimers();
    timers.wait(0, 300);
    const cancel = timers.wait(1, 300);
    timers.wait(2, 100);
    timers.pending();
    expect(timers.endSleep()).toEqual([2]);
    timers.take(2);
    timers.pending();
    expect(timers.endSleep()).toEqual([0, 1]);
    timers.take(0);
    cancel();
    expect(timers.take(1)).toBe(false);
  });

  it('fires every timer once, never early, and in order, whatever is set and canceled', () => {
    const act = fc.record({
      waitMs: fc.integer({ min: 0, max: 50 }),
      isCanceled: fc.boolean(),
      passMs: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const { timers, time, endsAt } = setUpTimers(0);
        const dueMs = new Map<number, number>();
        const fired: number[] = [];
        const wakeOnce = (): boolean => {
          const [pending] = timers.pending();
          if (pending === undefined) return false;
          time.advanceTo(endsAt.get(pending) ?? 0);
          for (const timer of timers.endSleep()) {
            if (!timers.take(timer)) continue;
            fired.push(timer);
            expect(time.nowMs).toBeGreaterThanOrEqual(dueMs.get(timer) ?? Number.POSITIVE_INFINITY);
          }
          return true;
        };
        acts.forEach(({ waitMs, isCanceled, passMs }, timer) => {
          const cancel = timers.wait(timer, waitMs);
          if (isCanceled) cancel();
          else dueMs.set(timer, time.nowMs + waitMs);
          timers.pending();
          time.advanceTo(time.nowMs + passMs);
          if (timer % 3 === 0) wakeOnce();
        });
        for (let wakes = 0; wakeOnce(); wakes += 1) if (wakes > 1000) throw new Error('it never ends');
        expect([...fired].sort((one, other) => one - other)).toEqual([...dueMs.keys()]);
      }),
    );
  });
});

const never = new AbortController().signal;
const reply = {
  text: '',
  value: null,
  prose: false,
  failure: null,
  usage: { inputTokens: 0, outputTokens: 0, estimated: true },
};
const ended: CallEvent = { type: 'reply.ended', openedAtMs: 1, atMs: 9, chars: 3, promptChars: null, reply };

const activityOf = (execute: Activity['execute']): Activity => ({
  actor: 'port',
  input: null,
  isWaiting: () => true,
  execute,
  onEvent: () => {},
});
/** An activity that reports these events at once. */
const reporting = (...events: readonly CallEvent[]): Activity => activityOf((report) => events.forEach(report));

describe('runActivity', () => {
  it('returns the start and the end of a reply, and no progress', async () => {
    const started: CallEvent = { type: 'reply.started', openedAtMs: 1, atMs: 2, chars: 0, promptChars: null };
    const progressed: CallEvent = { type: 'reply.progressed', openedAtMs: 1, atMs: 3, chars: 1, promptChars: null };
    expect(await runActivity(reporting(started, progressed, ended), never)).toEqual([started, ended]);
    expect(await runActivity(reporting(ended), never)).toEqual([ended]);
  });

  it('returns an error as an outcome, also if the activity throws', async () => {
    const broken: CallEvent = { type: 'failed', error: { name: 'Error', message: 'no' } };
    expect(await runActivity(reporting(broken), never)).toEqual([broken]);
    const throwing = activityOf(() => {
      throw new TypeError('a bug');
    });
    expect(await runActivity(throwing, never)).toEqual([
      { type: 'failed', error: { name: 'TypeError', message: 'a bug' } },
    ]);
  });

  it.each([
    ['a circular value', Object.assign([], { 0: [] as unknown[] })],
    ['a bigint', 1n],
  ])('returns broken if the result is not JSON: %s', async (_, output) => {
    if (Array.isArray(output)) output[0] = output;
    const events = await runActivity(reporting({ type: 'done', output }), never);
    expect(events).toMatchObject([{ type: 'failed', error: { name: 'TypeError' } }]);
  });

  it('returns no events if it is abandoned, even if the activity never ends', async () => {
    const controller = new AbortController();
    const events = runActivity(
      activityOf(() => {}),
      controller.signal,
    );
    controller.abort();
    expect(await events).toEqual([]);
  });
});
