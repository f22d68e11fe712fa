import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  createMachine,
  type EventObject,
  SimulatedClock,
} from 'xstate';
import { nodesOf } from '../structure/nodes.ts';

/** Steps of a machine that give the next snapshot and do nothing else: no action is run, no actor started, no timer set. */
export interface PureSteps {
  begin(input: unknown): AnyMachineSnapshot;
  after(snapshot: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot;
}

/**
 * As XState's own `initialTransition` and `transition`, but that a machine finds itself as it stands: an action that looks at
 * `self.getSnapshot()`, at what a child has come to say, sees what it would see in a run. They also make no new actor for each step.
 */
export function pureSteps(machine: AnyStateMachine): PureSteps {
  const hasSystemIds = nodesOf(machine).some(({ invoke }) => invoke.some(({ systemId }) => systemId !== undefined));
  let scope: AnyActorScope | null = null;
  let current: AnyMachineSnapshot | undefined;

  /** Ids of a system are given once in it: who has some needs a new one for each step. */
  function scopeNow(): AnyActorScope {
    if (scope === null || hasSystemIds) scope = inertScope(() => current);
    return scope;
  }

  return {
    begin(input) {
      scope = null;
      current = undefined;
      return machine.getInitialSnapshot(scopeNow(), input);
    },
    after(snapshot, event) {
      current = snapshot;
      return machine.transition(snapshot, event, scopeNow());
    },
  };
}

// XState lets an actor begin as it is made: this one has nothing to begin.
const idle = createMachine({});

function inertScope(current: () => unknown): AnyActorScope {
  const self = createActor(idle, { clock: new SimulatedClock(), logger: () => {} });
  Object.assign(self, { getSnapshot: current });
  const nothing = (): void => {};
  return {
    ...{ self, id: self.id, sessionId: self.sessionId, system: self.system },
    ...{ logger: nothing, defer: nothing, emit: nothing, stopChild: nothing, actionExecutor: nothing },
  };
}
