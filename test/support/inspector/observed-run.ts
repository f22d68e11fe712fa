import {
  type AnyActor,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  type InspectionEvent,
  StateMachine,
} from 'xstate';
import { activeNodes, transitionsTaken } from '../../../src/xstate/actors.ts';
import type { ScriptedRun } from '../run-chain.ts';

type Run = ScriptedRun['run'];

/** A transition that a machine took, and its leaf states afterwards. */
export interface ObservedStep {
  readonly machine: string;
  readonly taken: AnyTransitionDefinition;
  readonly leaves: readonly string[];
}

/** The leaf states of each running machine, by machine ID, when the journal had `count` entries. */
export interface ObservedStates {
  readonly count: number;
  readonly leaves: Readonly<Record<string, readonly string[]>>;
}

/** Records the transitions and states of a run as XState reports them. */
export function observeRun(run: Run): { readonly steps: ObservedStep[]; readonly states: ObservedStates[] } {
  const steps: ObservedStep[] = [];
  const states: ObservedStates[] = [];
  run.ref.system.inspect((event: InspectionEvent) => {
    if (event.type !== '@xstate.microstep') return;
    for (const taken of transitionsTaken(event))
      if (taken.target !== undefined || taken.guard !== undefined)
        steps.push({ machine: taken.source.machine.id, taken, leaves: leafStates(event.snapshot) });
  });
  run.ref.subscribe(() =>
    states.push({ count: run.entries.length, leaves: leafStatesByMachine(run.ref as unknown as AnyActor) }),
  );
  return { steps, states };
}

function leafStatesByMachine(actor: AnyActor): Record<string, readonly string[]> {
  const snapshot = actor.getSnapshot();
  const children = Object.values(snapshot.children ?? {}) as AnyActor[];
  // A machine that is done remains a child until its parent has processed its done event.
  const machines = children.filter(
    (child) => child.logic instanceof StateMachine && child.getSnapshot().status !== 'stopped',
  );
  return Object.assign(
    { [(actor.logic as AnyStateMachine).id]: leafStates(snapshot) },
    ...machines.map((child) => leafStatesByMachine(child)),
  );
}

function leafStates(snapshot: unknown): readonly string[] {
  const nodes = activeNodes(snapshot as AnyMachineSnapshot);
  return nodes.filter((node) => nodes.every(({ parent }) => parent !== node)).map(({ id }) => id);
}

/** Returns a machine's transitions in the order of its chart. */
export function transitionDefinitions(machine: AnyStateMachine): readonly AnyTransitionDefinition[] {
  const all: AnyTransitionDefinition[] = [];
  const visit = (node: AnyStateNode): void => {
    for (const group of [...node.transitions.values(), node.always ?? []]) all.push(...group);
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return all;
}

const definitionsByMachine = new WeakMap<AnyStateMachine, readonly AnyTransitionDefinition[]>();

/** Returns the index of a transition in its chart. Every provided machine has its own transition objects. */
export function transitionPosition(taken: AnyTransitionDefinition): number {
  const { machine } = taken.source;
  const cached = definitionsByMachine.get(machine) ?? transitionDefinitions(machine);
  definitionsByMachine.set(machine, cached);
  return cached.indexOf(taken);
}
