import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  createMachine,
  type EventObject,
  SimulatedClock,
} from 'xstate';
import { nodesOf } from '../structure/chart-structure.ts';

/** Steps that return the next snapshot without side effects: no action runs, no actor starts, no timer is set. */
export interface PureSteps {
  start(input: unknown): AnyMachineSnapshot;
  after(snapshot: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot;
}

/**
 * Returns pure steps of a machine. Unlike XState's `initialTransition` and `transition`, `self.getSnapshot()` returns the current snapshot,
 * so an action that reads a child's snapshot works as in a run; and no new actor is created for each step.
 */
export function pureSteps(machine: AnyStateMachine): PureSteps {
  const hasSystemIds = nodesOf(machine).some(({ invoke }) => invoke.some(({ systemId }) => systemId !== undefined));
  let scope: AnyActorScope | null = null;
  let current: AnyMachineSnapshot | undefined;

  /** A system registers each system id once, so a machine with system ids needs a new system for each step. */
  function currentScope(): AnyActorScope {
    if (scope === null || hasSystemIds) scope = inertScope(() => current);
    return scope;
  }

  return {
    start(input) {
      scope = null;
      current = undefined;
      return machine.getInitialSnapshot(currentScope(), input);
    },
    after(snapshot, event) {
      current = snapshot;
      return machine.transition(snapshot, event, currentScope());
    },
  };
}

// Creating an actor computes its initial snapshot; an empty machine has nothing to compute.
const idle = createMachine({});

function inertScope(current: () => unknown): AnyActorScope {
  const self = createActor(idle, { clock: new SimulatedClock(), logger: () => {} });
  Object.assign(self, { getSnapshot: current });
  const nothing = (): void => {};
  return {
    self,
    id: self.id,
    sessionId: self.sessionId,
    system: self.system,
    logger: nothing,
    defer: nothing,
    emit: nothing,
    stopChild: nothing,
    actionExecutor: nothing,
  };
}
