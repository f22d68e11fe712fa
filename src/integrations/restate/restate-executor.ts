import { type CallEvent, type ChainEvent, LAST_EVENTS } from '../../../machines/contracts/events.ts';
import type { ExternalEvent, RuntimeEvent } from '../../../machines/contracts/journal.ts';
import type { ActivityExecutor } from '../../chain/runtime/durable-actor.ts';
import type { Clock } from '../../durable/clock.ts';
import { type Activity, activityError } from '../../llm/activities.ts';

/**
 * What a run needs of a cluster. After a crash, the run makes the same requests in the same order and gets the same results. So `act` runs
 * once, and again only if its process died before it finished.
 */
export interface Host {
  step(name: string, act: () => Promise<CallOutcome>): Pending;
  sleep(ms: number): Pending;
  /** The user event with this number, from 0. */
  sent(number: number): Pending;
  /** Resolves to the outcome that came first: the same one in each process. */
  first(pending: readonly Pending[]): Promise<Outcome>;
}

/** A future outcome: the same in this process and in one that takes over. JSON. */
export type Pending<Result extends Outcome = Outcome> = PromiseLike<Result>;

/** `interrupted`: the host ends the run. */
export type Outcome = CallOutcome | SentOutcome | { readonly type: 'slept' } | { readonly type: 'interrupted' };

/** The complete result of a call. `atMs` is when it ended, in milliseconds since the epoch. */
export interface CallOutcome {
  readonly type: 'call';
  readonly call: number;
  readonly events: readonly CallEvent[];
  /** What the call reported besides its result. */
  readonly notes: readonly RuntimeEvent[];
  readonly atMs: number;
}

/** A user event. `id` identifies duplicates. */
export interface SentOutcome {
  readonly type: 'sent';
  readonly id: string;
  readonly event: ChainEvent;
  readonly atMs: number;
}

/** The time of a run: advanced by recorded outcomes only, never by a clock, and never back, even if clocks of two machines differ. */
export interface RecordedTime {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  advanceTo(atMs: number): void;
}

export function createRecordedTime(startedAtMs: number): RecordedTime {
  let nowMs = startedAtMs;
  return {
    get nowMs() {
      return nowMs;
    },
    advanceTo(atMs) {
      nowMs = Math.max(nowMs, atMs);
    },
  };
}

export interface RestateExecutorOptions {
  readonly host: Host;
  readonly time: RecordedTime;
  /** The real clock: it supplies the end time of a call, which is recorded with the outcome. */
  readonly clock: Clock;
  readonly append: (event: RuntimeEvent) => void;
}

/** An executor that maps calls, timers and user events to the host's steps, sleeps and promises. */
export interface RestateExecutor extends ActivityExecutor {
  /** Everything that may happen next, in the same order in each process. */
  pending(): readonly Pending[];
  /** Yields the external events of an outcome. Deliver each before requesting the next: it may change what follows. */
  take(outcome: Outcome): Iterable<ExternalEvent>;
}

interface InFlightCall {
  readonly activity: Activity;
  readonly pending: Pending;
  abandon(): void;
}

export function createRestateExecutor({ host, time, clock, append }: RestateExecutorOptions): RestateExecutor {
  const calls = new Map<number, InFlightCall>();
  const timers = createTimers(host, time);
  let reported: RuntimeEvent[] = [];
  let sentNumber = 0;
  let sent = host.sent(sentNumber);

  async function outcomeOf(call: number, activity: Activity, abandoned: AbortSignal): Promise<CallOutcome> {
    const events = await runActivity(activity, abandoned);
    const notes = reported;
    reported = [];
    return { type: 'call', call, events, notes, atMs: clock.now() };
  }

  function* takeCall({ call, events, notes, atMs }: CallOutcome): Iterable<ExternalEvent> {
    const actor = calls.get(call)?.activity.actor ?? '';
    calls.delete(call);
    time.advanceTo(atMs);
    for (const event of notes) append(event);
    for (const event of events) yield { type: 'call-event', call, actor, event };
  }

  function* takeTimers(): Iterable<ExternalEvent> {
    for (const timer of timers.endSleep()) if (timers.take(timer)) yield { type: 'timer', timer };
  }

  return {
    execute(call, activity) {
      const controller = new AbortController();
      const pending = host.step(`${activity.actor} ${call}`, () => outcomeOf(call, activity, controller.signal));
      calls.set(call, { activity, pending, abandon: () => controller.abort() });
    },
    wait: timers.wait,
    // Text deltas are not kept: the reply contains the full text.
    record: (event) => void (event.type !== 'text-delta' && reported.push(event)),
    pending() {
      for (const [call, { activity, abandon }] of calls) {
        if (activity.isWaiting()) continue;
        calls.delete(call);
        abandon();
      }
      return [sent, ...timers.pending(), ...[...calls.values()].map(({ pending }) => pending)];
    },
    *take(outcome) {
      switch (outcome.type) {
        case 'call':
          return yield* takeCall(outcome);
        case 'sent':
          sentNumber += 1;
          sent = host.sent(sentNumber);
          time.advanceTo(outcome.atMs);
          return yield { type: 'delivery', event: outcome.event };
        case 'slept':
          return yield* takeTimers();
        case 'interrupted':
          return yield { type: 'delivery', event: { type: 'run.interrupted', reason: 'the host canceled the run' } };
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
 * Maps all timers of a run to few sleeps. Charts set a deadline for nearly everything and usually cancel it, but a host's sleep cannot be
 * canceled. So only the next due timer has a sleep, and the sleep of a canceled timer is reused for a later one: it ends early, and another
 * sleep follows.
 */
export function createTimers(host: Pick<Host, 'sleep'>, time: RecordedTime) {
  const dueMsOf = new Map<number, number>();
  /** In the order in which they end. */
  let sleeps: readonly Sleep[] = [];

  return {
    wait(timer: number, waitMs: number): () => void {
      dueMsOf.set(timer, time.nowMs + waitMs);
      return () => void dueMsOf.delete(timer);
    },
    /** Returns a sleep that ends when the next timer is due, or earlier; none if no timer is set. */
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
    /** Ends the first sleep and returns the timers that are due, in order. */
    endSleep(): readonly number[] {
      const [soonest, ...later] = sleeps;
      sleeps = later;
      if (soonest !== undefined) time.advanceTo(soonest.dueMs);
      const due = [...dueMsOf].filter(([, dueMs]) => dueMs <= time.nowMs);
      due.sort(([one, oneMs], [other, otherMs]) => oneMs - otherMs || one - other);
      return due.map(([timer]) => timer);
    },
    /** Removes a timer that fires; false if it was canceled meanwhile. */
    take: (timer: number): boolean => dueMsOf.delete(timer),
  };
}

/**
 * Runs an activity to its end and returns the events for the chart: the start of a reply, and the end. Progress is not kept. Never rejects,
 * because the host would retry a rejected step forever: errors, and results that are not JSON, become `failed`. Returns no events if the
 * call is abandoned.
 */
export async function runActivity(activity: Activity, abandoned: AbortSignal): Promise<readonly CallEvent[]> {
  try {
    const events = await eventsOf(activity, abandoned);
    JSON.stringify(events);
    return events;
  } catch (error) {
    return [{ type: 'failed', error: activityError(error) }];
  }
}

function eventsOf(activity: Activity, abandoned: AbortSignal): Promise<readonly CallEvent[]> {
  return new Promise((resolve) => {
    const started: CallEvent[] = [];
    abandoned.addEventListener('abort', () => resolve([]), { once: true });
    activity.execute((event) => {
      if (event.type === 'reply.started') started.push(event);
      else if (LAST_EVENTS.has(event.type)) resolve([...started, event]);
    });
  });
}
