import {
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  createMachine,
  type EventObject,
  SimulatedClock,
} from 'xstate';
import {
  limitInspection,
  parentOf,
  registerSystemIds,
  takeOverSystem,
  unregisterActor,
} from '../../internal/xstate-internals.ts';
import { activeActors, childOf, refsIn, type StandIns } from '../structure/running-actors.ts';
import type { ExploredPlace } from './exploration.ts';
import type { Occurrence, Place } from './occurrences.ts';
import { replaceChild, snapshotEventOf } from './stub-actors.ts';
import { type Delayed, withoutElapsed, withoutTimers, withTimer } from './timers.ts';

/** Steps that return the next place without side effects: no custom action runs, no actor starts, no timer is set. */
export interface PureSteps {
  start(input: unknown): ExploredPlace;
  after(place: ExploredPlace, occurrence: Occurrence): ExploredPlace;
  /** Returns the id of an actor whose snapshot the machine has read in the last step, or null. Snapshots of stubs are not followed. */
  actorRead(): string | null;
  /** Names of the actions that were taken and have no implementation. */
  readonly unknownActions: ReadonlySet<string>;
}

interface TakenAction {
  readonly type: string;
  readonly params: unknown;
  readonly exec?: unknown;
}

interface SentEvent {
  readonly to: unknown;
  readonly event: EventObject;
  readonly id: string | undefined;
  readonly delay: number | undefined;
}

// Creating an actor computes its initial snapshot; an empty machine has nothing to compute.
const idle = createMachine({});

/**
 * Returns pure steps of a machine. Unlike XState's `initialTransition` and `transition`, a step follows the events that the machine sends
 * itself, delayed or not; `self.getSnapshot()` returns the current snapshot; system ids are known; and no new actor is created for each step.
 */
export function pureSteps(machine: AnyStateMachine, original: AnyStateMachine, standIns: StandIns): PureSteps {
  let current: AnyMachineSnapshot | undefined;
  let booked = 0;
  let read: string | null = null;
  let effects: (() => void)[] = [];
  let started = new Set<AnyActorRef>();
  let stopped = new Set<AnyActorRef>();
  let timers: readonly Delayed[] = [];
  let mailbox: EventObject[] = [];
  const unknownActions = new Set<string>();

  const nothing = (): void => {};
  const self = createActor(idle, {
    id: machine.id,
    clock: new SimulatedClock(),
    logger: nothing,
    inspect({ type, actorRef }) {
      const ref = actorRef as AnyActorRef;
      if (type !== '@xstate.actor') return;
      if (parentOf(ref) === undefined)
        takeOverSystem(ref, () => `x:${booked++}`, { schedule: nothing, cancel: nothing, cancelAll: nothing });
      else if (replaceChild(ref, original, standIns)) followReads(ref);
    },
  });
  limitInspection(self, new Set(['@xstate.actor']));
  Object.assign(self, { getSnapshot: () => current });

  function followReads(ref: AnyActorRef): void {
    const { getSnapshot } = ref;
    Object.assign(ref, {
      getSnapshot() {
        read ??= ref.id;
        return getSnapshot.call(ref);
      },
    });
  }

  function setTimers(next: readonly Delayed[]): void {
    timers = next;
  }

  const scope: AnyActorScope = {
    self,
    id: self.id,
    sessionId: self.sessionId,
    system: self.system,
    logger: nothing,
    defer: nothing,
    emit: nothing,
    stopChild: nothing,
    actionExecutor: (action) => execute(action as TakenAction),
  };

  /** Does what XState's own actions do to the machine itself. */
  function execute({ type, params, exec }: TakenAction): void {
    const { to, event, id, delay } = (params ?? {}) as SentEvent;
    switch (type) {
      case 'xstate.raise':
        if (typeof delay === 'number') effects.push(() => setTimers(withTimer(timers, { id, event })));
        break;
      case 'xstate.cancel':
        effects.push(() => setTimers(withoutTimers(timers, (params as { readonly sendId: string }).sendId)));
        break;
      case 'xstate.sendTo':
        effects.push(() => {
          // The target may be named before its actor exists.
          if ((params as SentEvent).to !== self && to !== self) return;
          if (typeof delay === 'number') setTimers(withTimer(timers, { id, event }));
          else mailbox.push(event);
        });
        break;
      case 'xstate.spawnChild': {
        const { actorRef } = params as { readonly actorRef: AnyActorRef | undefined };
        if (actorRef !== undefined) effects.push(() => startChild(actorRef));
        break;
      }
      case 'xstate.stopChild':
        if (params !== undefined) {
          stopped.add(params as AnyActorRef);
          unregisterActor(self.system, params as AnyActorRef);
        }
        break;
      default:
        if (exec === undefined) unknownActions.add(type);
    }
  }

  function startChild(ref: AnyActorRef): void {
    if (started.has(ref) || stopped.has(ref)) return;
    started.add(ref);
    const event = snapshotEventOf(ref);
    if (event !== null) mailbox.push(event);
  }

  /** Takes one step and those that it causes. An error ends the machine, as in XState's actors. */
  function settle(first: () => AnyMachineSnapshot, before: AnyMachineSnapshot | undefined): AnyMachineSnapshot {
    let take: (() => AnyMachineSnapshot) | undefined = first;
    read = null;
    let at = before;
    while (take !== undefined) {
      effects = [];
      started = new Set(refsIn(at?.children ?? {}));
      stopped = new Set();
      let next: AnyMachineSnapshot;
      try {
        next = take();
      } catch (error) {
        if (at === undefined) throw error;
        next = { ...at, status: 'error', error } as AnyMachineSnapshot;
        effects = [];
      }
      for (const effect of effects) effect();
      // Actors that `assign` has spawned.
      for (const ref of refsIn(next.children)) startChild(ref);
      at = next;
      current = next;
      const event: EventObject | undefined = next.status === 'active' ? mailbox.shift() : undefined;
      take = event && (() => machine.transition(next, event, scope));
    }
    mailbox = [];
    if (at?.status !== 'active') timers = [];
    return at as AnyMachineSnapshot;
  }

  return {
    unknownActions,
    start(input) {
      current = undefined;
      booked = 1;
      timers = [];
      registerSystemIds(self.system, []);
      const snapshot = settle(() => machine.getInitialSnapshot(scope, input), undefined);
      return { snapshot, ended: [], timers, booked };
    },
    after(place, occurrence) {
      const { snapshot } = place;
      current = snapshot;
      ({ booked, timers } = place);
      if (occurrence.kind === 'delay')
        timers = withoutElapsed(timers, { id: occurrence.timerId, event: occurrence.event }) ?? timers;
      const running = refsIn(snapshot.children).filter(({ id }) => !place.ended.includes(id));
      registerSystemIds(self.system, running);
      const next = settle(() => machine.transition(snapshot, occurrence.event, scope), snapshot);
      return { snapshot: next, ended: endedAfter(place, occurrence, next), timers, booked };
    },
    actorRead: () => read,
  };
}

/** Returns the ids of actors that no longer run after a step although their state is active. */
function endedAfter(
  { snapshot: before, ended }: Place,
  { kind, actor }: Occurrence,
  after: AnyMachineSnapshot,
): readonly string[] {
  const ends = kind === 'done' || kind === 'error';
  const hasEnded = (id: string): boolean => (ends && id === actor?.id) || ended.includes(id);
  return activeActors(after).flatMap(({ id }) => {
    const child = childOf(after, id);
    return child === undefined || (hasEnded(id) && child === childOf(before, id)) ? [id] : [];
  });
}
