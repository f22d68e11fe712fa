import type { ExternalEvent, RuntimeEvent } from '../../../machines/contracts/journal-entry.ts';
import type { Activity } from '../../engine/activities/activity.ts';
import type { Clock } from '../../engine/attempts/clock.ts';
import type { ActivityExecutor } from '../../engine/runtime/durable-actor.ts';
import { createAlarm } from './alarm.ts';
import type { DurableTime } from './durable-time.ts';
import type { CallOutcome, Host, Outcome, Pending } from './host.ts';
import { makeCall } from './make-call.ts';

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
