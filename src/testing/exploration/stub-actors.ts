import type { ActorLogic, AnyActorLogic, AnyStateMachine, Snapshot } from 'xstate';
import { actorNames } from '../../internal/xstate-internals.ts';
import { actorsOf } from './occurrence.ts';

type HeldSnapshot = Snapshot<unknown> & { readonly input: unknown };
type HeldEvent =
  | { readonly type: 'held.done'; readonly output: unknown }
  | { readonly type: 'held.error'; readonly error: unknown };

/** An actor that does nothing by itself: it ends when it is told to, as it is told to. */
export const stubActor: ActorLogic<HeldSnapshot, HeldEvent, unknown> = {
  getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
  getPersistedSnapshot: (snapshot) => snapshot,
  transition(snapshot, event) {
    if (event.type === 'held.done') return { ...snapshot, status: 'done', output: event.output, error: undefined };
    if (event.type === 'held.error') return { ...snapshot, status: 'error', output: undefined, error: event.error };
    return snapshot;
  },
};

/** A machine all of whose actors that have a name are held, but for those that are given. */
export function withStubActors<Machine extends AnyStateMachine>(
  machine: Machine,
  given: Readonly<Record<string, AnyActorLogic>> = {},
): Machine {
  const names = [...actorNames(machine), ...actorsOf(machine).map(({ src }) => src)];
  const held = Object.fromEntries(names.map((name) => [name, stubActor as AnyActorLogic]));
  return machine.provide({ actors: { ...held, ...given } } as never) as Machine;
}
