import { type ActorRefFrom, type AnyStateMachine, createActor, type InputFrom, type SnapshotFrom } from 'xstate';
import { LAST_EVENTS } from '../../../machines/contracts/events.ts';
import type { ExternalEvent, RuntimeEvent } from '../../../machines/contracts/journal.ts';

import { type Activity, type ActivityDispatcher, subjectOf } from '../activities.ts';
import type { Clock } from '../clock.ts';
import { createGuardLogs } from '../recording/guard-logs.ts';
import type { Journal } from '../recording/journal.ts';
import { observeSystem } from '../recording/observe.ts';
import type { ActorParts } from './actors.ts';
import type { RunObserver } from './run-events.ts';

/** What a stage plays in: who makes the calls of its charts and watches its timers. What comes of them is told to the stage. */
export interface ActivityExecutor {
  /** `call` is the number of the call in its run. */
  execute(call: number, made: Activity): void;
  /** Gives what ends the wait early. */
  wait(timer: number, waitMs: number): () => void;
  /** Takes what a call tells beside its answer; left out, it is written at once. */
  record?(fact: RuntimeEvent): void;
}

/** Nobody makes calls and no time passes: the charts get what they are fed with. */
const noopExecutor: ActivityExecutor = { execute: () => {}, wait: () => () => {} };

export interface DurableActorOptions<Machine extends AnyStateMachine> {
  /** Joins the machine that plays to what it asks and tells. */
  readonly provide: (seams: Pick<ActorParts, 'observer' | 'dispatcher'>) => Machine;
  readonly input: InputFrom<Machine>;
  readonly journal: Journal;
  readonly partial: RunObserver['partial'];
  /** Hears how the machine stands whenever it is done with what came. */
  readonly settled?: (context: SnapshotFrom<Machine>['context']) => void;
}

/**
 * The machines of one run, and everything that passes between them and the world: calls go out, and what comes in comes through
 * `deliver`, one stimulus at a time, each written into the journal before the charts take it in. Live, replayed, resumed or on a
 * cluster, a run is the same stage in another world.
 */
export interface DurableActor<Machine extends AnyStateMachine> {
  readonly actor: ActorRefFrom<Machine>;
  start(): void;
  /** What comes while the charts take something in waits its turn; what nobody waits for any more is dropped, and not written. */
  deliver(stimulus: ExternalEvent): void;
  /** Plays on in another world: calls without an answer and timers that have not fired are handed over to it. */
  attach(world: ActivityExecutor): void;
  /** The calls that wait for an answer, by their numbers. */
  readonly activities: ReadonlyMap<number, Activity>;
}

interface Timer {
  readonly fire: () => void;
  readonly dueMs: number;
  cancel: () => void;
}

export function createDurableActor<Machine extends AnyStateMachine>({
  provide: join,
  input,
  journal,
  partial,
  settled,
}: DurableActorOptions<Machine>): DurableActor<Machine> {
  const calls = new Map<number, Activity>();
  const timers = new Map<number, Timer>();
  let world = noopExecutor;
  let nextCall = 0;
  let nextTimer = 0;

  const dispatcher: ActivityDispatcher = {
    dispatch(made) {
      const call = nextCall;
      nextCall += 1;
      journal.append({ type: 'call-start', call, port: made.port, ...subjectOf(made.input) });
      calls.set(call, made);
      world.execute(call, made);
      return () => void calls.delete(call);
    },
  };

  /** The delays of the charts; calls go by the clock of the parts. */
  const clock = {
    setTimeout(fire: () => void, waitMs: number): number {
      const timer = nextTimer;
      nextTimer += 1;
      timers.set(timer, { fire, dueMs: journal.nowMs() + waitMs, cancel: world.wait(timer, waitMs) });
      return timer;
    },
    clearTimeout(timer: number): void {
      timers.get(timer)?.cancel();
      timers.delete(timer);
    },
  };

  const verdicts = createGuardLogs();
  const record = (fact: RuntimeEvent): void => (world.record ?? journal.append)(fact);
  const observer: RunObserver = { guardLogs: verdicts, record, partial };
  const machine: AnyStateMachine = join({ observer, dispatcher });
  const actor = createActor(machine, { input, clock, inspect: observeSystem(journal.append, verdicts) });

  const { send, stop } = actor;

  function take(stimulus: ExternalEvent): void {
    switch (stimulus.type) {
      case 'delivery':
        if (actor.getSnapshot().status !== 'active') return;
        journal.append(stimulus);
        send(stimulus.event);
        return;
      case 'call-event': {
        const made = calls.get(stimulus.call);
        if (!made?.isWaiting()) return;
        if (LAST_EVENTS.has(stimulus.event.type)) calls.delete(stimulus.call);
        journal.append(stimulus);
        made.onEvent(stimulus.event);
        return;
      }
      case 'timer': {
        const timer = timers.get(stimulus.timer);
        if (timer === undefined) return;
        timers.delete(stimulus.timer);
        journal.append(stimulus);
        timer.fire();
        return;
      }
      case 'run-stopped':
        journal.append(stimulus);
        stop.call(actor);
        return;
      default:
        stimulus satisfies never;
    }
  }

  const settle = (): void => settled?.(actor.getSnapshot().context);
  const inbox = createInbox((stimulus: ExternalEvent) => {
    take(stimulus);
    settle();
  });
  return {
    actor: actor as unknown as ActorRefFrom<Machine>,
    start: () =>
      inbox.during(() => {
        actor.start();
        settle();
      }),
    deliver: inbox.push,
    attach(next) {
      world = next;
      for (const [call, made] of [...calls]) world.execute(call, made);
      for (const [number, timer] of [...timers])
        timer.cancel = world.wait(number, Math.max(0, timer.dueMs - journal.nowMs()));
    },
    activities: calls,
  };
}

/**
 * What comes to a run from outside, one at a time: what comes while the charts are taking something in waits until they are done with
 * it. So the charts of a run are a function of what came, and in which order.
 */
export function createInbox<Item>(take: (item: Item) => void) {
  const waiting: Item[] = [];
  let busy = false;

  function drain(): void {
    busy = true;
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) take(item);
    } finally {
      busy = false;
    }
  }

  return {
    push(item: Item): void {
      waiting.push(item);
      if (!busy) drain();
    },
    /** Does something that the charts take in without anything coming: their start. */
    during(act: () => void): void {
      busy = true;
      try {
        act();
      } finally {
        busy = false;
      }
      drain();
    },
  };
}

/** Calls are made at once, and time passes. */
export function liveExecutor(clock: Clock, deliver: (stimulus: ExternalEvent) => void): ActivityExecutor {
  return {
    execute: (call, { port, execute: perform }) =>
      perform((event) => deliver({ type: 'call-event', call, port, event })),
    wait(timer, waitMs) {
      const id = clock.setTimeout(() => deliver({ type: 'timer', timer }), waitMs);
      return () => clock.clearTimeout(id);
    },
  };
}
