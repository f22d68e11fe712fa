import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { InstrumentedMachine } from '../structure/instrumented-machine.ts';
import { refsIn, type StandIns } from '../structure/running-actors.ts';
import { createHostedActor } from './hosted-actor.ts';
import { endedAfter, isEndOf, type PureSteps } from './pure-steps.ts';

/**
 * Returns pure steps of a machine of XState 6. Each step is taken by a new actor that continues in the snapshot of its place; no custom action
 * is executed, and its children do nothing.
 */
export function stepsOfSix(
  instrumented: InstrumentedMachine<AnyStateMachine>,
  original: AnyStateMachine,
  standIns: StandIns,
): PureSteps {
  const { machine, stepped } = instrumented;
  /** The inputs with which the actors of snapshots have started. */
  const inputs = new WeakMap<AnyMachineSnapshot, unknown>();
  let read: string | null = null;
  let isStepping = false;
  let ended: readonly AnyActorRef[] = [];
  // Children of earlier actors are in the snapshots of later ones. XState itself reads their status before it starts another under the same id.
  const seen = (snapshot: object, ref: AnyActorRef): object =>
    new Proxy(snapshot, {
      get(target, member) {
        if (member === 'status' && ended.includes(ref)) return 'done';
        if (member !== 'status' && isStepping) read ??= `the snapshot of its actor "${ref.id}"`;
        return Reflect.get(target, member);
      },
    });
  const create = (input: unknown) => createHostedActor(machine, { original, input, standIns, stepped, seen });

  function step(act: () => void): void {
    read = null;
    isStepping = true;
    act();
    isStepping = false;
  }

  return {
    start(input) {
      ended = [];
      const actor = create(input);
      step(() => actor.start());
      const snapshot = actor.ref.getSnapshot() as AnyMachineSnapshot;
      inputs.set(snapshot, input);
      return { snapshot, ended: actor.ended(), timers: actor.timers(), booked: actor.sessions() };
    },
    after(place, occurrence) {
      const input = inputs.get(place.snapshot);
      ended = [];
      const actor = create(input);
      actor.start();
      instrumented.drainStep();
      actor.continueIn(place);
      const isEnded = (child: AnyActorRef): boolean => place.ended.includes(child.id) || isEndOf(child, occurrence);
      ended = refsIn(place.snapshot.children).filter(isEnded);
      step(() => actor.apply(occurrence));
      const snapshot = actor.ref.getSnapshot() as AnyMachineSnapshot;
      inputs.set(snapshot, input);
      return {
        snapshot,
        ended: endedAfter(place, occurrence, snapshot),
        timers: actor.timers(),
        booked: actor.sessions(),
      };
    },
    unknownRead: () => read,
    sharedId: () => null,
    sentToChildren: () => [],
    unknownSystemIds: new Set(),
    unknownActions: new Set(),
  };
}
