import type {
  AnyActorRef,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectedMicrostepEvent,
  InspectionEvent,
} from 'xstate';

/**
 * Everything that this product uses of XState beyond its documented API, in one place.
 * `test/src/internal/xstate-internals.test.ts` fails if XState changes any of it.
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

/**
 * Sends only these events to the inspectors of an actor's system, until another inspector subscribes. XState creates a copy of each of
 * the many events, even if no inspector reads it.
 */
export function limitInspection(actor: AnyActorRef, types: ReadonlySet<InspectionEvent['type']>): void {
  const system = actor.system as AnyActorRef['system'] & {
    _sendInspectionEvent: (event: Omit<InspectionEvent, 'rootId'>) => void;
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

/** Whether a delayed event of this type is scheduled in the actor's system. There is no public way to list timers. */
export function isScheduled(actor: AnyActorRef, eventType: string): boolean {
  const { _scheduledEvents: scheduled } = actor.system.getSnapshot();
  return Object.values(scheduled).some(({ event }) => event.type === eventType);
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
