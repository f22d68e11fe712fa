import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  SimulatedClock,
} from 'xstate';
import { nodesOf } from '../anatomy/nodes.ts';

/** Steps of a machine that give the next snapshot and do nothing else: no action is run, no actor started, no timer set. */
export interface PureSteps {
  begin(input: unknown): AnyMachineSnapshot;
  after(snapshot: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot;
}

/**
 * As XState's own `initialTransition` and `transition`, but that a machine finds itself as it stands: an action that looks at
 * `self.getSnapshot()`, at what a child has come to say, sees what it would see in a run. They also make no new actor for each step. `self` is an
 * actor of the other machine: XState lets an actor begin as it is made, and whoever listens to the first would hear of that too.
 */
export function pureSteps(machine: AnyStateMachine, self: AnyStateMachine = machine): PureSteps {
  const hasSystemIds = nodesOf(machine).some(({ invoke }) => invoke.some(({ systemId }) => systemId !== undefined));
  let scope: AnyActorScope | null = null;
  let current: AnyMachineSnapshot | undefined;

  /** Ids of a system are given once in it: who has some needs a new one for each step. */
  function scopeFor(input: unknown): AnyActorScope {
    if (scope !== null && !hasSystemIds) return scope;
    scope = inertScope(self, input, () => current);
    return scope;
  }

  return {
    begin(input) {
      scope = null;
      current = undefined;
      return machine.getInitialSnapshot(scopeFor(input), input);
    },
    after(snapshot, event) {
      current = snapshot;
      return machine.transition(snapshot, event, scopeFor(undefined));
    },
  };
}

function inertScope(machine: AnyStateMachine, input: unknown, current: () => unknown): AnyActorScope {
  const self = createActor(machine, { input, clock: new SimulatedClock(), logger: () => {} } as never);
  const own = self.getSnapshot.bind(self);
  Object.assign(self, { getSnapshot: () => current() ?? own() });
  const nothing = (): void => {};
  return {
    ...{ self, id: self.id, sessionId: self.sessionId, system: self.system },
    ...{ logger: nothing, defer: nothing, emit: nothing, stopChild: nothing, actionExecutor: nothing },
  };
}
