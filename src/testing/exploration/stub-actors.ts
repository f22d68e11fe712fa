import {
  type ActorLogic,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type InspectionEvent,
  SimulatedClock,
  type Snapshot,
} from 'xstate';
import { actorNames, isScheduled } from '../../internal/xstate-internals.ts';
import { actorsOf, type Occurrence } from './occurrences.ts';

type StubSnapshot = Snapshot<unknown> & { readonly input: unknown };
type StubEvent =
  | { readonly type: 'stub.done'; readonly output: unknown }
  | { readonly type: 'stub.error'; readonly error: unknown };

/** An actor that does nothing until an event makes it finish or fail. */
const stubActor: ActorLogic<StubSnapshot, StubEvent, unknown> = {
  getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
  getPersistedSnapshot: (snapshot) => snapshot,
  transition(snapshot, event) {
    if (event.type === 'stub.done') return { ...snapshot, status: 'done', output: event.output, error: undefined };
    if (event.type === 'stub.error') return { ...snapshot, status: 'error', output: undefined, error: event.error };
    return snapshot;
  },
};

/** Returns the machine with a stub in place of every named actor, except those given. */
export function withStubActors<Machine extends AnyStateMachine>(
  machine: Machine,
  given: Readonly<Record<string, AnyActorLogic>> = {},
): Machine {
  const names = [...actorNames(machine), ...actorsOf(machine).map(({ src }) => src)];
  const stubs = Object.fromEntries(names.map((name) => [name, stubActor as AnyActorLogic]));
  return machine.provide({ actors: { ...stubs, ...given } } as never) as Machine;
}

/** Returns an actor of a machine with stub actors, on a simulated clock. An error of the actor is only in its snapshot. */
export function createStubbedActor(
  machine: AnyStateMachine,
  input: unknown,
  inspect: ((event: InspectionEvent) => void) | undefined,
) {
  const clock = new SimulatedClock();
  const actor = createActor(machine, { input, clock, logger: () => {}, ...(inspect && { inspect }) });
  // Without an observer, XState would rethrow the error.
  actor.subscribe({ error: () => {} });
  return actor;
}

/** Makes an event occur on an actor whose children are stubs. Returns null, or the reason why it cannot occur. */
export function applyEvent(actor: AnyActorRef, occurrence: Occurrence): string | null {
  const reason = whyImpossible(actor, occurrence);
  if (reason !== null) return reason;
  const { kind, event, actor: id } = occurrence;
  const { output, error } = event as { readonly output?: unknown; readonly error?: unknown };
  if (kind === 'done') childOf(actor, id)?.send({ type: 'stub.done', output } satisfies StubEvent);
  else if (kind === 'error') childOf(actor, id)?.send({ type: 'stub.error', error } satisfies StubEvent);
  else actor.send(event);
  return null;
}

export function whyImpossible(actor: AnyActorRef, { kind, event, name, actor: id }: Occurrence): string | null {
  if (kind === 'delay') return isScheduled(actor, event.type) ? null : `No timer is running for "${name}"`;
  if (id === null) return null;
  return childOf(actor, id)?.getSnapshot().status === 'active' ? null : `The actor of "${name}" is not running`;
}

const childOf = (actor: AnyActorRef, id: string | null): AnyActorRef | undefined =>
  (actor.getSnapshot() as AnyMachineSnapshot).children[id ?? ''];
