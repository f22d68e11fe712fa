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
  adopt,
  limitInspection,
  parentOf,
  registerSystemIds,
  takeOverSystem,
  unregisterActor,
} from '../../xstate/actors.ts';
import { activeActors, childOf, refsIn, type StandIns } from '../structure/running-actors.ts';
import type { ExploredPlace } from './exploration.ts';
import type { Occurrence, Place } from './occurrences.ts';
import { replaceChild, snapshotEventOf } from './stub-actors.ts';
import { type Delayed, withoutElapsed, withoutTimers, withTimer } from './timers.ts';

/** Steps that return the next place without side effects: no custom action runs, no actor starts, no timer is set. */
export interface PureSteps {
  start(input: unknown): ExploredPlace;
  after(place: ExploredPlace, occurrence: Occurrence): ExploredPlace;
  /** Returns what the machine read in the last step that is not followed, such as the snapshot of a stub; null if nothing. */
  unknownRead(): string | null;
  /** The system ids that the machine has looked up without finding an actor. */
  readonly unknownSystemIds: ReadonlySet<string>;
  /** Returns the id of two actors that run at the same time after the last step; null if each has its own. */
  sharedId(): string | null;
  /** Returns the events that the machine has sent to its children in the last step. */
  sentToChildren(): readonly SentToChild[];
  /** Names of the actions that were taken and have no implementation. */
  readonly unknownActions: ReadonlySet<string>;
}

interface SentToChild {
  readonly ref: AnyActorRef;
  readonly event: EventObject;
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

const nothing = (): void => {};

/** Stands for the parent of a machine that is explored as a child. */
export interface StubParent {
  readonly ref: AnyActorRef;
  /** The events that the machine has sent it so far. */
  readonly received: EventObject[];
}

export const stubParent = (id: string): StubParent => ({ ref: createActor(idle, { id }), received: [] });

/** The actor as which a machine is explored. */
export interface ExploredAs {
  readonly id: string;
  readonly parent?: StubParent;
}

/**
 * Returns pure steps of a machine. Unlike XState's `initialTransition` and `transition`, a step follows the events that the machine sends
 * itself, delayed or not; `self.getSnapshot()` returns the current snapshot; system ids are known; and no new actor is created for each step.
 */
export const pureSteps = (
  machine: AnyStateMachine,
  original: AnyStateMachine,
  standIns: StandIns,
  as: ExploredAs,
): PureSteps => new MachineSteps(machine, original, standIns, as);

class MachineSteps implements PureSteps {
  readonly unknownActions = new Set<string>();
  readonly unknownSystemIds = new Set<string>();
  readonly #machine: AnyStateMachine;
  readonly #self: AnyActorRef;
  readonly #scope: AnyActorScope;
  #current: AnyMachineSnapshot | undefined;
  #booked = 0;
  readonly #parent: StubParent | undefined;
  #read: string | null = null;
  #sharedId: string | null = null;
  /** The actors that were created in the last transition, and those that had ended before it. */
  #created: AnyActorRef[] = [];
  #ended: readonly AnyActorRef[] = [];
  #sentToChildren: SentToChild[] = [];
  #effects: (() => void)[] = [];
  #started = new Set<AnyActorRef>();
  #stopped = new Set<AnyActorRef>();
  #timers: readonly Delayed[] = [];
  #mailbox: EventObject[] = [];

  constructor(machine: AnyStateMachine, original: AnyStateMachine, standIns: StandIns, { id, parent }: ExploredAs) {
    this.#machine = machine;
    this.#parent = parent;
    this.#self = createActor(idle, {
      id,
      clock: new SimulatedClock(),
      logger: nothing,
      inspect: ({ type, actorRef }) => {
        const ref = actorRef as AnyActorRef;
        if (type !== '@xstate.actor') return;
        if (parentOf(ref) === undefined)
          takeOverSystem(ref, () => `x:${this.#booked++}`, { schedule: nothing, cancel: nothing, cancelAll: nothing });
        else {
          if (parentOf(ref) === this.#self) this.#created.push(ref);
          if (replaceChild(ref, original, standIns)) this.#followReads(ref);
        }
      },
    });
    limitInspection(this.#self, new Set(['@xstate.actor']));
    Object.assign(this.#self, { getSnapshot: () => this.#current });
    this.#followSystem();
    if (parent !== undefined) this.#followParent(parent);
    this.#scope = {
      self: this.#self,
      id: this.#self.id,
      sessionId: this.#self.sessionId,
      system: this.#self.system,
      logger: nothing,
      defer: nothing,
      emit: nothing,
      stopChild: nothing,
      actionExecutor: (action) => this.#execute(action as TakenAction),
    };
  }

  start(input: unknown): ExploredPlace {
    this.#current = undefined;
    this.#booked = 1;
    this.#timers = [];
    this.#ended = [];
    registerSystemIds(this.#self.system, []);
    const snapshot = this.#settle(() => this.#machine.getInitialSnapshot(this.#scope, input), undefined);
    return { snapshot, ended: [], timers: this.#timers, booked: this.#booked };
  }

  after(place: ExploredPlace, occurrence: Occurrence): ExploredPlace {
    const { snapshot, booked, timers } = place;
    this.#current = snapshot;
    this.#booked = booked;
    const elapsed = occurrence.kind === 'delay' ? { id: occurrence.timerId, event: occurrence.event } : null;
    this.#timers = (elapsed && withoutElapsed(timers, elapsed)) ?? timers;
    const children = refsIn(snapshot.children);
    const running = children.filter(({ id }) => !place.ended.includes(id));
    registerSystemIds(this.#self.system, running);
    this.#ended = children.filter((ref) => !running.includes(ref) || isEndOf(ref, occurrence));
    const next = this.#settle(() => this.#machine.transition(snapshot, occurrence.event, this.#scope), snapshot);
    return {
      snapshot: next,
      ended: endedAfter(place, occurrence, next),
      timers: this.#timers,
      booked: this.#booked,
    };
  }

  unknownRead(): string | null {
    return this.#read;
  }

  sharedId(): string | null {
    return this.#sharedId;
  }

  sentToChildren(): readonly SentToChild[] {
    return this.#sentToChildren;
  }

  #followReads(ref: AnyActorRef, what = `the snapshot of its actor "${ref.id}"`): void {
    const { getSnapshot } = ref;
    Object.assign(ref, {
      getSnapshot: () => {
        this.#read ??= what;
        return getSnapshot.call(ref);
      },
    });
  }

  #followParent({ ref }: StubParent): void {
    adopt(ref, this.#self);
    this.#followReads(ref, 'the snapshot of its parent');
    Object.defineProperty(ref, '_parent', {
      get: () => {
        this.#read ??= 'the parent of its parent';
        return undefined;
      },
    });
  }

  /** Records lookups by system id: only the actors that the machine starts itself are known. */
  #followSystem(): void {
    const { system } = this.#self;
    const get = system.get.bind(system);
    Object.assign(system, {
      get: (id: string) => {
        const found = get(id);
        if (found !== undefined) return found;
        this.unknownSystemIds.add(id);
        if (this.#parent !== undefined) this.#read ??= `the actor "${id}" of its system`;
        return found;
      },
    });
  }

  /** Does what XState's own actions do to the machine itself. */
  #execute({ type, params, exec }: TakenAction): void {
    const { to, event, id, delay } = (params ?? {}) as SentEvent;
    switch (type) {
      case 'xstate.raise':
        if (typeof delay === 'number') this.#effects.push(() => this.#setTimer(event, id));
        break;
      case 'xstate.cancel': {
        const { sendId } = params as { readonly sendId: string };
        this.#effects.push(() => {
          this.#timers = withoutTimers(this.#timers, sendId);
        });
        break;
      }
      case 'xstate.sendTo':
        this.#effects.push(() => {
          // The target may be named before its actor exists.
          const target = (params as SentEvent).to as AnyActorRef | undefined;
          if (target === undefined) return;
          if (target === this.#parent?.ref) this.#parent.received.push(event);
          else if (target !== this.#self && to !== this.#self) this.#sentToChildren.push({ ref: target, event });
          else if (typeof delay === 'number') this.#setTimer(event, id);
          else this.#mailbox.push(event);
        });
        break;
      case 'xstate.spawnChild': {
        const { actorRef } = params as { readonly actorRef: AnyActorRef | undefined };
        if (actorRef !== undefined) this.#effects.push(() => this.#startChild(actorRef));
        break;
      }
      case 'xstate.stopChild':
        if (params !== undefined) {
          this.#stopped.add(params as AnyActorRef);
          unregisterActor(this.#self.system, params as AnyActorRef);
        }
        break;
      default:
        if (exec === undefined) this.unknownActions.add(type);
    }
  }

  #setTimer(event: EventObject, id: string | undefined): void {
    this.#timers = withTimer(this.#timers, { id, event });
  }

  #startChild(ref: AnyActorRef): void {
    if (this.#started.has(ref) || this.#stopped.has(ref)) return;
    this.#started.add(ref);
    const event = snapshotEventOf(ref);
    if (event !== null) this.#mailbox.push(event);
  }

  /** Takes one step and those that it causes. */
  #settle(first: () => AnyMachineSnapshot, before: AnyMachineSnapshot | undefined): AnyMachineSnapshot {
    this.#read = null;
    this.#sharedId = null;
    this.#sentToChildren = [];
    let at = this.#take(first, before);
    while (at.status === 'active') {
      const [from, event] = [at, this.#mailbox.shift()];
      if (event === undefined) break;
      at = this.#take(() => this.#machine.transition(from, event, this.#scope), from);
    }
    this.#mailbox = [];
    if (at.status !== 'active') this.#timers = [];
    return at;
  }

  /** Takes one step. An error ends the machine, as in XState's actors. */
  #take(step: () => AnyMachineSnapshot, before: AnyMachineSnapshot | undefined): AnyMachineSnapshot {
    this.#effects = [];
    this.#created = [];
    this.#started = new Set(refsIn(before?.children ?? {}));
    this.#stopped = new Set();
    let next: AnyMachineSnapshot;
    try {
      next = step();
    } catch (error) {
      if (before === undefined) throw error;
      next = { ...before, status: 'error', error } as AnyMachineSnapshot;
      this.#effects = [];
    }
    for (const effect of this.#effects) effect();
    // Actors that `assign` has spawned.
    for (const ref of refsIn(next.children)) this.#startChild(ref);
    // XState forgets an actor when another one gets its id, but both run.
    const known = new Set([...refsIn(next.children), ...this.#stopped, ...this.#ended]);
    if (next.status === 'active')
      this.#sharedId ??=
        [...refsIn(before?.children ?? {}), ...this.#created].find((ref) => !known.has(ref))?.id ?? null;
    this.#current = next;
    return next;
  }
}

export const isEndOf = ({ id }: AnyActorRef, { kind, actor }: Occurrence): boolean =>
  (kind === 'done' || kind === 'error') && id === actor?.id;

/** Returns the ids of actors that no longer run after a step although their state is active. */
export function endedAfter(
  { snapshot: before, ended }: Place,
  occurrence: Occurrence,
  after: AnyMachineSnapshot,
): readonly string[] {
  return activeActors(after).flatMap(({ id }) => {
    const child = childOf(after, id);
    const hasEnded = child === undefined || ended.includes(id) || isEndOf(child, occurrence);
    return hasEnded && (child === undefined || child === childOf(before, id)) ? [id] : [];
  });
}
