/** Durable actors and tests of machines of XState 6. */

import type {
  ActorLogic,
  ActorSystem,
  ActorSystemInfo,
  AnyActorRef,
  AnyStateMachine,
  EventObject,
  MetaObject,
  ParameterizedObject,
  ProvidedActor,
  Snapshot,
  StateMachine,
  StateValue,
} from 'xstate';
import { setXState6Port } from '../xstate/ports.ts';
import { sixOf, type XState6 } from '../xstate/six.ts';

export type { XState6 };

/**
 * Lets this process host and test machines of XState 6. Call it once, before `createDurableMachine` or `explore`, with the module `xstate` of
 * version 6.
 *
 * @example
 * import { createActor } from 'xstate6';
 * hostXState6({ createActor });
 */
export function hostXState6(xstate: XState6): void {
  setXState6Port(sixOf(xstate));
}

/** The members of a machine of XState 6 from which its types are inferred. */
interface Machine6 {
  transition(snapshot: never, event: never, ...scope: never[]): unknown;
  initialTransition(input: never, ...scope: never[]): readonly [snapshot: unknown, effects: unknown];
}

/** The type of a member of a union of snapshots. */
type MemberOf<Snapshot, Name extends string> = Snapshot extends { [name in Name]: infer Member } ? Member : never;

type SnapshotOf<Machine extends Machine6> = Parameters<Machine['transition']>[0];

/** The types of a machine of XState 6, in the form of XState 5. */
type Machine5<Machine extends Machine6> = StateMachine<
  Extract<MemberOf<SnapshotOf<Machine>, 'context'>, object>,
  Extract<Parameters<Machine['transition']>[1], EventObject>,
  Record<string, AnyActorRef | undefined>,
  ProvidedActor,
  ParameterizedObject,
  ParameterizedObject,
  string,
  StateValue,
  string,
  Parameters<Machine['initialTransition']>[0],
  MemberOf<Extract<SnapshotOf<Machine>, { status: 'done' }>, 'output'>,
  EventObject,
  MetaObject,
  AnyStateMachine['__TResolvedTypesMeta' & keyof AnyStateMachine]
>;

/** Returns the same machine with types of XState 5, which the functions of PostChain take. */
export const fromXState6 = <Machine extends Machine6>(machine: Machine): Machine5<Machine> =>
  machine as object as Machine5<Machine>;

/** Logic of XState 5, in the form of the types of XState 6. */
interface Logic6<Snapshot, Event, Input> {
  transition: (snapshot: Snapshot, event: Event, scope: unknown) => [snapshot: Snapshot, effects: never[]];
  initialTransition: (input: Input, scope: unknown) => [snapshot: Snapshot, effects: never[]];
  getInitialSnapshot: (scope: unknown, input: Input) => Snapshot;
  getPersistedSnapshot: (snapshot: Snapshot, options?: unknown) => Snapshot;
}

/**
 * Returns the same logic with types of XState 6, for the `actors` of its `setup`. The logic is `approval`, or what `fromDurable` returns.
 *
 * @example
 * setup({ actors: { approval: toXState6(approval) } })
 */
export const toXState6 = <Snapshot5 extends Snapshot<unknown>, Event extends EventObject, Input>(
  logic: ActorLogic<Snapshot5, Event, Input, ActorSystem<ActorSystemInfo>>,
): Logic6<Snapshot5, Event, Input> => logic as object as Logic6<Snapshot5, Event, Input>;
