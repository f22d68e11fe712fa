import type {
  ActorRefLike,
  AnyActorLogic,
  AnyActorRef,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  EventObject,
  GuardArgs,
  InspectedMicrostepEvent,
  InspectionEvent,
  MachineContext,
} from 'xstate';
import { evaluateGuard } from 'xstate/guards';
import type { ActorScope, HostedLogic, LogicSnapshot } from './port.ts';

/**
 * What this product uses of the actors and machines of XState 5 beyond its documented API. Its tests and those of its callers fail if XState
 * changes any of it.
 */

type Guard = AnyTransitionDefinition['guard'];

/** The active state nodes of a snapshot, each parent before its children. The public `snapshot.value` has only their keys. */
export function activeNodes(snapshot: AnyMachineSnapshot): readonly AnyStateNode[] {
  return snapshot._nodes;
}

/**
 * The transitions that a microstep took. XState never emits its documented `@xstate.transition` event, so this field is
 * the only record of them.
 */
export function transitionsTaken(microstep: InspectedMicrostepEvent): readonly AnyTransitionDefinition[] {
  return microstep._transitions;
}

/** Returns a guard that evaluates another one, named, inline or composed, and reports the result. */
export function observedGuard(guard: unknown, begin: () => void, end: (holds: boolean) => void): NonNullable<Guard> {
  const check = (snapshot: AnyMachineSnapshot, args: GuardArgs<MachineContext, EventObject>): boolean => {
    begin();
    const holds = evaluateGuard(guard as never, args.context, args.event, snapshot);
    end(holds);
    return holds;
  };
  // XState calls the member `check` of its own guards, such as `and`.
  return Object.assign(() => false, { check, guards: [guard] }) as never;
}

/** The machine that an actor runs, also one of another copy of XState; null if the actor runs none. */
export function machineOf(actor: ActorRefLike): AnyStateMachine | null {
  const { logic } = actor as unknown as { readonly logic?: AnyStateMachine & { readonly __xstatenode?: boolean } };
  return logic?.__xstatenode === true ? logic : null;
}

/** The actor that invoked or spawned an actor; undefined for a root. */
export function parentOf(actor: ActorRefLike): AnyActorRef | undefined {
  return (actor as { readonly _parent?: AnyActorRef })._parent;
}

/**
 * Sends only these events to the inspectors of an actor's system, until another inspector subscribes. XState creates a copy of each of
 * the many events, even if no inspector reads it.
 */
export function limitInspection(actor: AnyActorRef, types: ReadonlySet<InspectionEvent['type']>): void {
  const system = actor.system as AnyActorRef['system'] & {
    _sendInspectionEvent: (event: InspectedEvent) => void;
  };
  const { inspect, _sendInspectionEvent: send } = system;
  system._sendInspectionEvent = (event) => {
    if (types.has(event.type)) send(event);
  };
  system.inspect = (observer) => {
    system._sendInspectionEvent = send;
    return inspect(observer);
  };
}

/** The timers of an actor system. A delayed event is canceled by its `id`. */
export interface SystemTimers {
  readonly schedule: (
    source: AnyActorRef,
    target: AnyActorRef,
    event: AnyEventObject,
    delay: number,
    id?: string,
  ) => void;
  readonly cancel: (source: AnyActorRef, id: string) => void;
  readonly cancelAll: (source: AnyActorRef) => void;
}

/** Takes over the session ids and the timers of an actor system, in the inspection event of its root actor's creation. */
export function takeOverSystem(root: AnyActorRef, nextSessionId: () => string, timers: SystemTimers): void {
  const actor = root as unknown as PrivateActor;
  const { system } = actor;
  actor.sessionId = nextSessionId();
  actor._actorScope.sessionId = actor.sessionId;
  system._bookId = nextSessionId;
  Object.assign(system.scheduler, timers);
}

/**
 * Replaces the logic of an actor, in the inspection event of its creation. Its parent no longer receives an event for each of its snapshots
 * (`onSnapshot`).
 */
export function replaceLogic(ref: AnyActorRef, logic: AnyActorLogic): void {
  Object.assign(ref, { logic, _syncSnapshot: false });
}

/** Makes an actor the parent of an actor of another system. */
export function adopt(parent: AnyActorRef, ref: AnyActorRef): void {
  Object.assign(ref, { _parent: parent });
}

export const logicOf = (ref: AnyActorRef): AnyActorLogic => (ref as unknown as { readonly logic: AnyActorLogic }).logic;

/** Whether the parent of an actor receives an event for each of its snapshots. */
export const syncsSnapshots = (ref: AnyActorRef): boolean =>
  (ref as { readonly _syncSnapshot?: boolean })._syncSnapshot === true;

/** Whether an actor has ever started; true also if it has ended. */
export const hasStarted = (ref: AnyActorRef): boolean => (ref as unknown as PrivateActor)._processingStatus !== 0;

/** Returns the pending delayed events of an actor. Repeated calls return the same objects. */
export function timersOf(ref: AnyActorRef): readonly ScheduledEvent[] {
  const { _scheduledEvents: all } = (ref as unknown as PrivateActor).system._snapshot;
  return Object.values(all).filter(({ source }) => source === ref);
}

/** Times are in milliseconds. */
interface ScheduledEvent {
  readonly source: AnyActorRef;
  readonly event: AnyEventObject;
  readonly startedAt: number;
  readonly delay: number;
}

/** Sends an event as an actor does. */
export function relay(source: AnyActorRef, target: AnyActorRef, event: AnyEventObject): void {
  (source as unknown as PrivateActor).system._relay(source, target, event);
}

export const systemIdOf = (actor: AnyActorRef): string | undefined =>
  (actor as { readonly systemId?: string }).systemId;

/** Registers exactly these actors under their system ids. */
export function registerSystemIds(system: AnyActorRef['system'], actors: readonly AnyActorRef[]): void {
  const { _set: set, _unregister: unregister } = system as unknown as PrivateActor['system'];
  for (const actor of Object.values(system.getAll() as Record<string, AnyActorRef>)) unregister(actor);
  for (const actor of actors) {
    const systemId = systemIdOf(actor);
    if (systemId !== undefined) set(systemId, actor);
  }
}

/** Frees the system id of an actor. */
export function unregisterActor(system: AnyActorRef['system'], actor: AnyActorRef): void {
  (system as unknown as PrivateActor['system'])._unregister(actor);
}

/** Returns an action that only reports that it runs, also in a pure step: XState resolves such actions and executes none. */
export function reportingAction(report: () => void): AnyTransitionDefinition['actions'][number] {
  const resolve = (_: unknown, snapshot: unknown) => {
    report();
    return [snapshot, undefined, undefined];
  };
  return Object.assign(() => {}, { type: 'xstate.report', resolve });
}

/** The names of the actors given to `setup` or `provide`. A machine does not list its implementations publicly. */
export function actorNames(machine: AnyStateMachine): readonly string[] {
  return Object.keys(machine.implementations.actors);
}

/** Replaces a state's candidates for one event, or its `always` transitions if the event type is empty. Changes the node. */
export function replaceCandidates(
  node: AnyStateNode,
  eventType: string,
  candidates: readonly AnyTransitionDefinition[],
): void {
  if (eventType === '') node.always = [...candidates];
  else if (candidates.length === 0) node.transitions.delete(eventType);
  else node.transitions.set(eventType, [...candidates]);
}

/**
 * Replaces the guard and the actions of a transition. Changes the transition: `provide` replaces implementations by name
 * only, which misses inline guards and cannot tell two transitions with the same guard apart.
 */
export function replaceBehavior(
  transition: AnyTransitionDefinition,
  { guard, actions }: { readonly guard: Guard | undefined; readonly actions: AnyTransitionDefinition['actions'] },
): void {
  if (guard !== undefined) transition.guard = guard;
  transition.actions = actions;
}

/** Gives each custom action that an actor executes a key, as a durable actor does. Call it in the inspection event of the actor's creation. */
export function keyActions(ref: AnyActorRef, nextKey: () => string): void {
  const { _actorScope: scope } = ref as unknown as PrivateActor;
  const { actionExecutor } = scope;
  scope.actionExecutor = (action) => {
    const { exec } = action;
    if (exec === undefined || action.type.startsWith('xstate.')) return actionExecutor(action);
    actionExecutor({ ...action, exec: (info, params) => exec({ ...Object(info), effectKey: nextKey() }, params) });
  };
}

type Relay = (source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject) => void;

export interface PrivateActor {
  logic: HostedLogic;
  sessionId: string;
  readonly src: unknown;
  readonly _parent?: AnyActorRef;
  readonly _actorScope: ActorScope;
  /** 0 before the start, 1 running, 2 stopped. */
  readonly _processingStatus: 0 | 1 | 2;
  _snapshot: LogicSnapshot & { readonly children?: Readonly<Record<string, PrivateActor | undefined>> };
  readonly system: {
    _bookId: () => string;
    _relay: Relay;
    _sendInspectionEvent: (event: InspectedEvent) => void;
    inspect: AnyActorRef['system']['inspect'];
    readonly _set: (id: string, ref: AnyActorRef) => void;
    _unregister: (ref: AnyActorRef) => void;
    readonly _snapshot: { readonly _scheduledEvents: Readonly<Record<string, ScheduledEvent>> };
    readonly scheduler: { schedule: SystemTimers['schedule'] };
  };
  subscribe: (...observers: unknown[]) => unknown;
  on: (type: string, handler: (event: unknown) => void) => unknown;
  stop: () => unknown;
  readonly _stop: () => void;
  readonly _error: (error: unknown) => void;
}

/** An inspection event before XState copies it for inspectors. */
export type InspectedEvent = Omit<InspectionEvent, 'rootId'>;
