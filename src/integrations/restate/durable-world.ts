import type { RuntimeFact, Stimulus } from '../../../machines/contracts/journal-entry.ts';
import type { Call } from '../../engine/activities/call.ts';
import type { Clock } from '../../engine/attempts/clock.ts';
import type { World } from '../../engine/runtime/stage.ts';
import { createAlarm } from './alarm.ts';
import type { DurableTime } from './durable-time.ts';
import type { CallOutcome, Host, Outcome, Pending } from './host.ts';
import { makeCall } from './make-call.ts';

interface CallUnderWay {
  readonly made: Call;
  readonly pending: Pending;
  giveUp(): void;
}

export interface DurableWorldParts {
  readonly host: Host;
  readonly time: DurableTime;
  /** The real one: when a call ended is written down with it. */
  readonly clock: Clock;
  /** Writes what a call told beside its answer. */
  readonly note: (fact: RuntimeFact) => void;
}

/** A world whose calls, waits and words from outside are the host's steps, sleeps and promises. */
export interface DurableWorld extends World {
  /** Everything that may come next, in an order that is the same on each process. */
  pending(): readonly Pending[];
  /** What the charts are to take in of an outcome, one by one: each may change what the next one is. */
  take(outcome: Outcome): Iterable<Stimulus>;
}

export function createDurableWorld({ host, time, clock, note }: DurableWorldParts): DurableWorld {
  const calls = new Map<number, CallUnderWay>();
  const alarm = createAlarm(host, time);
  let told: RuntimeFact[] = [];
  let sentNumber = 0;
  let sent = host.sent(sentNumber);

  async function outcomeOf(call: number, made: Call, givenUp: AbortSignal): Promise<CallOutcome> {
    const events = await makeCall(made, givenUp);
    const notes = told;
    told = [];
    return { type: 'call', call, events, notes, atMs: clock.now() };
  }

  function* takeCall({ call, events, notes, atMs }: CallOutcome): Iterable<Stimulus> {
    const port = calls.get(call)?.made.port ?? '';
    calls.delete(call);
    time.reach(atMs);
    for (const fact of notes) note(fact);
    for (const event of events) yield { type: 'call-event', call, port, event };
  }

  function* takeTimers(): Iterable<Stimulus> {
    for (const timer of alarm.ring()) if (alarm.take(timer)) yield { type: 'timer', timer };
  }

  return {
    perform(call, made) {
      const controller = new AbortController();
      const pending = host.step(`${made.port} ${call}`, () => outcomeOf(call, made, controller.signal));
      calls.set(call, { made, pending, giveUp: () => controller.abort() });
    },
    wait: alarm.wait,
    // Text is told piece by piece, and pieces are not kept; all of it is in the reply.
    note: (fact) => void (fact.type !== 'text-delta' && told.push(fact)),
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
