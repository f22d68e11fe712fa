import {
  type ActorLogic,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type DoneActorEvent,
  type ErrorActorEvent,
  type EventObject,
  type InspectionEvent,
  type Snapshot,
} from 'xstate';
import { registerActivity } from '../../durable/hosted-call.ts';
import {
  actorNames,
  keyActions,
  logicOf,
  parentOf,
  relay,
  replaceLogic,
  syncsSnapshots,
  takeOverSystem,
} from '../../xstate/actors.ts';
import { isXState6 } from '../../xstate/ports.ts';
import {
  type ActiveActor,
  actorsOf,
  childOf,
  hasGeneratedId,
  inputOf,
  nameOfActor,
  refsIn,
  type StandIns,
  spawnedActors,
} from '../structure/running-actors.ts';
import type { Occurrence } from './occurrences.ts';
import { type Delayed, withoutElapsed, withoutTimers, withTimer } from './timers.ts';

type StubSnapshot = Snapshot<unknown> & { readonly input: unknown };
type StubEvent =
  | { readonly type: 'stub.done'; readonly output: unknown }
  | { readonly type: 'stub.error'; readonly error: unknown };

/** An actor that does nothing until an event makes it finish or fail. */
export const stubActor: ActorLogic<StubSnapshot, StubEvent, unknown> = {
  getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
  getPersistedSnapshot: (snapshot) => snapshot,
  start(_, { self }) {
    const event = snapshotEvents.get(self);
    const parent = parentOf(self);
    if (event != null && parent !== undefined) relay(self, parent, event);
  },
  transition(snapshot, event) {
    if (event.type === 'stub.done') return { ...snapshot, status: 'done', output: event.output, error: undefined };
    if (event.type === 'stub.error') return { ...snapshot, status: 'error', output: undefined, error: event.error };
    return snapshot;
  },
};

/** The logic of actors that a stub replaces. */
const replaced = new WeakMap<AnyActorRef, AnyActorLogic>();

export const noteReplaced = (ref: AnyActorRef, logic: AnyActorLogic): void => void replaced.set(ref, logic);

/** Returns the logic that a stub replaces; undefined for an actor that is not a stub. */
export const replacedLogic = (ref: AnyActorRef): AnyActorLogic | undefined => replaced.get(ref);

/** Whether the parent of an actor receives its snapshots. */
export const hasOnSnapshot = (ref: AnyActorRef): boolean => snapshotEvents.has(ref);

/** The event with the first snapshot of an actor with `onSnapshot`, which its parent receives. */
const snapshotEvents = new WeakMap<AnyActorRef, EventObject | null>();

/** Returns the event that the parent of an actor receives when the actor starts; null if there is none. */
export const snapshotEventOf = (ref: AnyActorRef): EventObject | null => snapshotEvents.get(ref) ?? null;

/**
 * Replaces the logic of a new actor by a stub or its stand-in, in the inspection event of its creation. Returns whether it is a stub.
 * `machine` has the real logic of named actors.
 */
export function replaceChild(ref: AnyActorRef, machine: AnyStateMachine, standIns: StandIns): boolean {
  const parent = parentOf(ref);
  const isDirect = parent !== undefined && parentOf(parent) === undefined;
  const standIn = isDirect ? (standIns[ref.id] ?? standIns[nameOfActor(machine, ref)]) : undefined;
  const logic = standIn ?? (machine.implementations.actors as StandIns)[String(ref.src)] ?? logicOf(ref);
  if (syncsSnapshots(ref)) snapshotEvents.set(ref, firstSnapshotEvent(ref, logic));
  if (standIn === undefined) noteReplaced(ref, logic);
  replaceLogic(ref, standIn ?? stubActor);
  return standIn === undefined;
}

/** The real logic computes its first snapshot, but nothing that it starts or sends takes effect. */
function firstSnapshotEvent(ref: AnyActorRef, logic: AnyActorLogic): EventObject | null {
  const nothing = (): void => {};
  const { id, sessionId, system } = ref;
  const inert = { defer: nothing, emit: nothing, stopChild: nothing, actionExecutor: nothing, logger: nothing };
  const scope: AnyActorScope = { ...inert, self: ref, id, sessionId, system };
  try {
    const snapshot = logic.getInitialSnapshot(scope, inputOf(ref));
    return snapshot.status === 'active' ? ({ type: `xstate.snapshot.${id}`, snapshot } as EventObject) : null;
  } catch {
    return null;
  }
}

/**
 * Returns the machine with a stub in place of every named actor. Inline actors, and all those of XState 6, are replaced when they are created.
 */
export function withStubActors<Machine extends AnyStateMachine>(machine: Machine): Machine {
  if (isXState6(machine)) return machine;
  const names = [...actorNames(machine), ...actorsOf(machine).map(({ name }) => name)];
  const stubs = Object.fromEntries(names.map((name) => [name, stubActor as AnyActorLogic]));
  return machine.provide({ actors: stubs } as never) as Machine;
}

export interface StubbedActor {
  readonly ref: AnyActorRef;
  start(): void;
  /** Makes an event occur. Returns null, or the reason why it cannot occur. */
  apply(occurrence: Occurrence): string | null;
  timers(): readonly Delayed[];
  /** Returns the ids of the children that have ended. */
  ended(): readonly string[];
}

export interface StubOptions {
  /** The machine with the real logic of its actors. */
  readonly original: AnyStateMachine;
  readonly input: unknown;
  readonly standIns?: StandIns;
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
}

/** Creates an actor with stubs for all actors that its machine starts, except the stand-ins. No time passes; its snapshot has its error. */
export function createStubbedActor(
  machine: AnyStateMachine,
  { original, input, standIns = {}, inspect }: StubOptions,
): StubbedActor {
  let booked = 0;
  let effects = 0;
  let timers: readonly Delayed[] = [];
  const isRoot = (ref: AnyActorRef): boolean => parentOf(ref) === undefined;
  function takeOver(created: AnyActorRef): void {
    // The same in each run, so that a machine may use them in what it sends.
    keyActions(created, () => `test:effect:${effects++}`);
    registerActivity(created, {
      key: `test:${created.id}`,
      wasInterrupted: () => false,
      note: () => {},
      journal: () => null,
    });
    if (!isRoot(created)) return void replaceChild(created, original, standIns);
    takeOverSystem(created, () => `x:${booked++}`, {
      // Events delayed by or for other actors change nothing: those are stubs.
      schedule(source, target, event, _, id) {
        if (isRoot(source) && isRoot(target)) timers = withTimer(timers, { id, event });
      },
      cancel(source, id) {
        if (isRoot(source)) timers = withoutTimers(timers, id);
      },
      cancelAll(source) {
        if (isRoot(source)) timers = [];
      },
    });
  }
  const ref: AnyActorRef = createActor(machine, {
    input,
    id: machine.id,
    logger: () => {},
    inspect(event) {
      if (event.type === '@xstate.actor') takeOver(event.actorRef as AnyActorRef);
      inspect?.(event);
    },
  });
  // Without an observer, XState would rethrow the error.
  ref.subscribe({ error: () => {} });

  function apply({ kind, event, name, actor, timerId }: Occurrence): string | null {
    if (kind === 'delay') {
      const left = withoutElapsed(timers, { id: timerId, event });
      if (left === null) return `No timer is running for "${name}"`;
      timers = left;
    }
    const child = actor === null ? undefined : runningChild(ref, actor);
    if (actor !== null && child === undefined) return `The actor of "${name}" is not running`;
    if (kind === 'done')
      child?.send({ type: 'stub.done', output: (event as DoneActorEvent).output } satisfies StubEvent);
    else if (kind === 'error')
      child?.send({ type: 'stub.error', error: (event as ErrorActorEvent).error } satisfies StubEvent);
    else ref.send(event);
    return null;
  }
  return {
    ref,
    start: () => void ref.start(),
    apply,
    timers: () => timers,
    ended: () => endedIn(ref.getSnapshot() as AnyMachineSnapshot),
  };
}

/** Returns the ids of the children that have ended. */
const endedIn = ({ children }: AnyMachineSnapshot): readonly string[] =>
  refsIn(children).flatMap((ref) => (['done', 'error'].includes(ref.getSnapshot().status) ? [ref.id] : []));

/** Finds a running child by its id or, if that differs from run to run, by its name and number. */
export function runningChild(parent: AnyActorRef, { id, name, nth }: ActiveActor): AnyActorRef | undefined {
  const snapshot = parent.getSnapshot() as AnyMachineSnapshot;
  const same = spawnedActors(snapshot, endedIn(snapshot)).find((one) => one.name === name && one.nth === nth);
  const other = same && childOf(snapshot, same.id);
  const child = hasGeneratedId({ id }) ? other : (childOf(snapshot, id) ?? other);
  return child?.getSnapshot().status === 'active' ? child : undefined;
}
