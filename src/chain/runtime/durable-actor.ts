import { type ActorRefFrom, type AnyStateMachine, createActor, type InputFrom, type SnapshotFrom } from 'xstate';
import { LAST_EVENTS } from '../../../machines/contracts/events.ts';
import type { ExternalEvent, RetryRule, RuntimeEvent } from '../../../machines/contracts/journal.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { type Clock, takeTurnOf } from '../../durable/clock.ts';
import { limitInspection } from '../../internal/xstate-internals.ts';
import { type Activity, type ActivityDispatcher, callSubject } from '../../llm/activities.ts';
import { fileIn } from '../../llm/content.ts';
import { createGuardLogs } from '../recording/guard-logs.ts';
import type { Journal } from '../recording/journal.ts';
import { OBSERVED_TYPES, observeSystem } from '../recording/observe.ts';
import type { RunObserver } from './run-events.ts';
import { type ApplyRule, inScope, type RunScope } from './run-scope.ts';

/** Executes the activities and timers of a durable actor, and delivers what happens back to the actor. */
export interface ActivityExecutor {
  /** `call` is the activity's number in its run. */
  execute(call: number, activity: Activity): void;
  /** Starts a timer. Returns a function that cancels it. */
  wait(timer: number, waitMs: number): () => void;
  /** Whether a timer that is due fires before the next event, even if the event loop is late. */
  readonly firesDueTimers?: boolean;
  /** Records what an activity reports besides its result; by default it is appended to the journal at once. */
  record?(event: RuntimeEvent): void;
}

/** Executes nothing and fires no timer: the charts only receive what is delivered to them. */
const noopExecutor: ActivityExecutor = { execute: () => {}, wait: () => () => {} };

/** Executes activities at once and timers by the clock. What activities report is delivered when the clock gives it its turn. */
export function liveExecutor(clock: Clock, deliver: (event: ExternalEvent) => void): ActivityExecutor {
  const takeTurn = takeTurnOf(clock);
  return {
    firesDueTimers: true,
    execute: (call, { actor, execute }) =>
      execute((event) => takeTurn(() => deliver({ type: 'call-event', call, actor, event }))),
    wait(timer, waitMs) {
      const id = clock.setTimeout(() => deliver({ type: 'timer', timer }), waitMs);
      return () => clock.clearTimeout(id);
    },
  };
}

export interface DurableActorOptions<Machine extends AnyStateMachine> {
  /** The machine with its actors provided, which find their run in its scope. */
  readonly machine: Machine;
  readonly activityClock: Clock;
  readonly input: InputFrom<Machine>;
  readonly journal: Journal;
  readonly partial: RunObserver['partial'];
  readonly hasReaders: RunObserver['hasReaders'];
  /** Called with the machine's context after each external event has been processed. */
  readonly onSettled?: (context: SnapshotFrom<Machine>['context']) => void;
  /**
   * Called after each step, before its calls start. They start, and the next event is processed, when it has returned or resolved to
   * true; false discards them.
   */
  readonly onStep?: () => boolean | Promise<boolean>;
  readonly recording?: Recording | undefined;
}

export interface Recording {
  readonly actorOf: (call: number) => string | undefined;
  /** Returns the next recorded result of a retry rule, once, if it is of this rule and attempt. */
  readonly takeRule: (attemptId: string, rule: RetryRule) => RuleResult | undefined;
}

type RuleResult = Pick<Extract<RuntimeEvent, { type: 'retry-rule' }>, 'result' | 'error'>;

/**
 * Hosts the actor system of one run. Activities go out to an executor; everything that comes in passes through `deliver`, one event at
 * a time, and is appended to the journal before the charts see it. A live, replayed, resumed or distributed run is the same durable
 * actor with another executor.
 */
export interface DurableActor<Machine extends AnyStateMachine> {
  readonly actor: ActorRefFrom<Machine>;
  /** Events that were delivered before are part of the first step: a run that is canceled before its start makes no call. */
  start(): void;
  /** Queues an event while another is processed. An event of a finished activity or timer is dropped and not recorded. */
  deliver(event: ExternalEvent): void;
  /** Switches to an executor, and hands it the unfinished activities and timers. */
  attach(executor: ActivityExecutor): void;
  /** The unfinished activities by number. */
  readonly activities: ReadonlyMap<number, Activity>;
}

type Report = Parameters<Activity['execute']>[0];

interface Timer {
  readonly fire: () => void;
  readonly dueMs: number;
  cancel: () => void;
}

export function createDurableActor<Machine extends AnyStateMachine>({
  machine,
  activityClock,
  input,
  journal,
  partial,
  hasReaders,
  onSettled,
  onStep,
  recording,
}: DurableActorOptions<Machine>): DurableActor<Machine> {
  const activities = new Map<number, Activity>();
  const timers = new Map<number, Timer>();
  let executor = noopExecutor;
  let nextCall = 0;
  let nextTimer = 0;
  /** The calls of the step in progress. */
  let dispatched: number[] = [];

  const dispatcher: ActivityDispatcher = {
    isRecorded: (actor) => recording?.actorOf(nextCall) === actor,
    dispatch(activity) {
      const call = nextCall;
      nextCall += 1;
      journal.append({ type: 'call-start', call, actor: activity.actor, ...callSubject(activity.input) });
      const scoped = { ...activity, execute: (report: Report) => inScope(scope, () => activity.execute(report)) };
      activities.set(call, scoped);
      dispatched.push(call);
      return () => void activities.delete(call);
    },
  };

  /** XState's clock for the delays of the charts; activities use the clock of the options. */
  const clock = {
    setTimeout(fire: () => void, waitMs: number): number {
      const timer = nextTimer;
      nextTimer += 1;
      timers.set(timer, { fire, dueMs: journal.nowMs() + waitMs, cancel: executor.wait(timer, waitMs) });
      return timer;
    },
    clearTimeout(timer: number): void {
      timers.get(timer)?.cancel();
      timers.delete(timer);
    },
  };

  const guardLogs = createGuardLogs();
  const record = (event: RuntimeEvent): void => {
    if (executor.record !== undefined) executor.record(event);
    else if (event.type === 'text-delta') journal.appendText(event.attemptId, event.text);
    else journal.append(event);
  };
  const applyRule: ApplyRule = (attemptId, rule, work) => {
    const recorded = recording?.takeRule(attemptId, rule);
    if (recorded === undefined && work === undefined) return undefined;
    const { result, error } = recorded ?? resultOf(work);
    journal.append({ type: 'retry-rule', attemptId, rule, ...(result !== undefined && { result }), error });
    if (error !== null) throw new Error(error);
    return result;
  };
  const scope: RunScope = {
    dispatcher,
    observer: { guardLogs, record, partial, hasReaders },
    clock: activityClock,
    applyRule,
    fileOf: (attachment) => fileIn(journal.entries, attachment),
  };
  const inspect = observeSystem(journal.append, guardLogs);
  const actor = inScope(scope, () => createActor(machine as AnyStateMachine, { input, clock, inspect }));
  limitInspection(actor, OBSERVED_TYPES);
  // The public actor's `send` and `stop` are replaced to go through the journal: keep the originals.
  const { send, stop } = actor;

  function process(event: ExternalEvent): void {
    switch (event.type) {
      case 'delivery':
        if (actor.getSnapshot().status !== 'active') return;
        journal.append(event);
        send(event.event);
        return;
      case 'call-event': {
        const activity = activities.get(event.call);
        if (!activity?.isWaiting()) return;
        if (LAST_EVENTS.has(event.event.type)) activities.delete(event.call);
        journal.append(event);
        activity.onEvent(event.event);
        return;
      }
      case 'timer': {
        const timer = timers.get(event.timer);
        if (timer === undefined) return;
        timers.delete(event.timer);
        journal.append(event);
        timer.fire();
        return;
      }
      case 'run-stopped':
        journal.append(event);
        stop.call(actor);
        return;
      default:
        event satisfies never;
    }
  }

  function settle(): void {
    onSettled?.(actor.getSnapshot().context);
  }

  /** Timers fire late when the event loop is busy, so an event might otherwise overtake a deadline that has passed. */
  function fireDueTimers(): void {
    const nowMs = journal.nowMs();
    const due = [...timers].filter(([, { dueMs }]) => dueMs < nowMs);
    for (const [timer] of due.sort(([, one], [, other]) => one.dueMs - other.dueMs)) {
      inScope(scope, () => process({ type: 'timer', timer }));
      settle();
    }
  }

  function startActivities(mayStart: boolean): void {
    const calls = mayStart ? dispatched : [];
    dispatched = [];
    for (const call of calls) {
      const activity = activities.get(call);
      if (activity !== undefined) executor.execute(call, activity);
    }
  }

  function endStep(): void | Promise<void> {
    const mayStart = onStep?.() ?? true;
    return typeof mayStart === 'boolean' ? startActivities(mayStart) : mayStart.then(startActivities);
  }

  const inbox = createInbox((event: ExternalEvent) => {
    if (executor.firesDueTimers) fireDueTimers();
    inScope(scope, () => process(event));
    settle();
    return endStep();
  });
  inbox.hold();
  return {
    actor: actor as unknown as ActorRefFrom<Machine>,
    start: () =>
      inbox.during(() => {
        inScope(scope, () => actor.start());
        settle();
        for (const event of inbox.takeEarly()) {
          inScope(scope, () => process(event));
          settle();
        }
        return endStep();
      }),
    deliver: inbox.push,
    attach(next) {
      executor = next;
      for (const [call, activity] of [...activities]) executor.execute(call, activity);
      for (const [number, timer] of [...timers])
        timer.cancel = executor.wait(number, Math.max(0, timer.dueMs - journal.nowMs()));
    },
    activities,
  };
}

function resultOf(work: (() => unknown) | undefined): RuleResult {
  try {
    return { result: work?.(), error: null };
  } catch (error) {
    return { error: unexpectedFailure(error).message };
  }
}

/**
 * Returns a queue that processes one item at a time: an item that arrives while another is processed waits. So the state of the charts
 * is a function of the events and their order. If `process` returns a promise, the next item waits for it; it must not reject.
 */
export function createInbox<Item>(process: (item: Item) => void | Promise<void>) {
  const waiting: Item[] = [];
  let busy = false;

  /** Runs `act`, and then processes what has arrived. */
  function run(act: () => void | Promise<void>): void {
    busy = true;
    try {
      const pending = act();
      if (pending !== undefined) return void pending.then(drain);
    } catch (error) {
      busy = false;
      drain();
      throw error;
    }
    drain();
  }

  function drain(): void {
    busy = true;
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        const pending = process(item);
        if (pending === undefined) continue;
        pending.then(drain);
        return;
      }
    } catch (error) {
      busy = false;
      throw error;
    }
    busy = false;
  }

  return {
    push(item: Item): void {
      waiting.push(item);
      if (!busy) drain();
    },
    /** Queues what arrives from now on, until `during`. */
    hold: () => {
      busy = true;
    },
    /** Runs `act`, and queues what arrives meanwhile: for the start of the charts. */
    during: run,
    takeEarly: (): Item[] => waiting.splice(0),
  };
}
