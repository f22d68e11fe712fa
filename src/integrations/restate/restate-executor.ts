import { type CallEvent, LAST_EVENTS } from '../../../machines/contracts/events.ts';
import type { ExternalEvent, RuntimeEvent } from '../../../machines/contracts/journal.ts';

import { type Activity, activityError } from '../../engine/activities.ts';
import type { Clock } from '../../engine/clock.ts';
import type { ActivityExecutor } from '../../engine/runtime/durable-actor.ts';
import type { DurableTime } from './durable-time.ts';
import type { CallOutcome, Host, Outcome, Pending } from './host.ts';

interface CallUnderWay {
  readonly made: Activity;
  readonly pending: Pending;
  giveUp(): void;
}

export interface RestateExecutorOptions {
  readonly host: Host;
  readonly time: DurableTime;
  /** The real one: when a call ended is written down with it. */
  readonly clock: Clock;
  /** Writes what a call told beside its answer. */
  readonly note: (fact: RuntimeEvent) => void;
}

/** A world whose calls, waits and words from outside are the host's steps, sleeps and promises. */
export interface RestateExecutor extends ActivityExecutor {
  /** Everything that may come next, in an order that is the same on each process. */
  pending(): readonly Pending[];
  /** What the charts are to take in of an outcome, one by one: each may change what the next one is. */
  take(outcome: Outcome): Iterable<ExternalEvent>;
}

export function createRestateExecutor({ host, time, clock, note }: RestateExecutorOptions): RestateExecutor {
  const calls = new Map<number, CallUnderWay>();
  const alarm = createAlarm(host, time);
  let told: RuntimeEvent[] = [];
  let sentNumber = 0;
  let sent = host.sent(sentNumber);

  async function outcomeOf(call: number, made: Activity, givenUp: AbortSignal): Promise<CallOutcome> {
    const events = await makeCall(made, givenUp);
    const notes = told;
    told = [];
    return { type: 'call', call, events, notes, atMs: clock.now() };
  }

  function* takeCall({ call, events, notes, atMs }: CallOutcome): Iterable<ExternalEvent> {
    const port = calls.get(call)?.made.port ?? '';
    calls.delete(call);
    time.reach(atMs);
    for (const fact of notes) note(fact);
    for (const event of events) yield { type: 'call-event', call, port, event };
  }

  function* takeTimers(): Iterable<ExternalEvent> {
    for (const timer of alarm.ring()) if (alarm.take(timer)) yield { type: 'timer', timer };
  }

  return {
    execute(call, made) {
      const controller = new AbortController();
      const pending = host.step(`${made.port} ${call}`, () => outcomeOf(call, made, controller.signal));
      calls.set(call, { made, pending, giveUp: () => controller.abort() });
    },
    wait: alarm.wait,
    // Text is told piece by piece, and pieces are not kept; all of it is in the reply.
    record: (fact) => void (fact.type !== 'text-delta' && told.push(fact)),
    pending() {
      for (const [call, { made, giveUp }] of calls) {
        if (made.isWaiting()) continue;
        calls.delete(call);
        giveUp();
      }
      return [sent, ...alarm.pending(), ...[...calls.values()].map(({ pending }) => pending)];
    },
    *take(outcome) {
      switch (outcome.type) {
        case 'call':
          return yield* takeCall(outcome);
        case 'sent':
          sentNumber += 1;
          sent = host.sent(sentNumber);
          time.reach(outcome.atMs);
          return yield { type: 'delivery', event: outcome.event };
        case 'slept':
          return yield* takeTimers();
        case 'interrupted':
          return yield { type: 'delivery', event: { type: 'run.interrupted', reason: 'the host cancelled it' } };
        default:
          outcome satisfies never;
      }
    },
  };
}

interface Sleep {
  readonly dueMs: number;
  readonly pending: Pending;
}

/**
 * All timers of a run on few sleeps. Charts set a deadline for everything they do, and nearly always take it back; a sleep of the host
 * cannot be taken back. So there is one only for the timer that is due next, and one that was made for a timer taken back serves a
 * later one: it ends early, and the next is slept for.
 */
export function createAlarm(host: Pick<Host, 'sleep'>, time: DurableTime) {
  const dueMsOf = new Map<number, number>();
  /** The soonest first. */
  let sleeps: readonly Sleep[] = [];

  return {
    wait(timer: number, waitMs: number): () => void {
      dueMsOf.set(timer, time.nowMs + waitMs);
      return () => void dueMsOf.delete(timer);
    },
    /** What ends when the next timer is due, or before; none where no timer is set. */
    pending(): readonly Pending[] {
      if (dueMsOf.size === 0) return [];
      const nextMs = Math.min(...dueMsOf.values());
      sleeps = sleeps.filter(({ dueMs }) => dueMs > time.nowMs);
      const [soonest] = sleeps;
      if (soonest !== undefined && soonest.dueMs <= nextMs) return [soonest.pending];
      const pending = host.sleep(Math.max(0, Math.ceil(nextMs - time.nowMs)));
      sleeps = [{ dueMs: nextMs, pending }, ...sleeps];
      return [pending];
    },
    /** The sleep is over. Gives the timers that are due, in the order in which they are. */
    ring(): readonly number[] {
      const [soonest, ...later] = sleeps;
      sleeps = later;
      if (soonest !== undefined) time.reach(soonest.dueMs);
      const due = [...dueMsOf].filter(([, dueMs]) => dueMs <= time.nowMs);
      due.sort(([one, oneMs], [other, otherMs]) => oneMs - otherMs || one - other);
      return due.map(([timer]) => timer);
    },
    /** The timer fires; false where it was taken back since. */
    take: (timer: number): boolean => dueMsOf.delete(timer),
  };
}

/**
 * Makes a call to its end, and gives what the chart is to hear of it: that a reply began, and the end; what came between is not kept.
 * It never rejects, since who keeps the outcome would make a call that rejects again and again: what breaks is data too, and what
 * cannot be written down is broken. Given up, it gives nothing.
 */
export async function makeCall(made: Activity, givenUp: AbortSignal): Promise<readonly CallEvent[]> {
  try {
    const events = await eventsOf(made, givenUp);
    JSON.stringify(events);
    return events;
  } catch (error) {
    return [{ type: 'broken', error: activityError(error) }];
  }
}

function eventsOf(made: Activity, givenUp: AbortSignal): Promise<readonly CallEvent[]> {
  return new Promise((resolve) => {
    const begun: CallEvent[] = [];
    givenUp.addEventListener('abort', () => resolve([]), { once: true });
    made.execute((event) => {
      if (event.type === 'reply.started') begun.push(event);
      else if (LAST_EVENTS.has(event.type)) resolve([...begun, event]);
    });
  });
}
