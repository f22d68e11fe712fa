import type {
  AnyActor,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectionEvent,
} from 'xstate';
import { StateMachine } from 'xstate';
import { activeNodes, transitionsTaken } from '../../../src/internal/xstate-internals.ts';
import type { ScriptedRun } from '../../support/run-chain.ts';

type Run = ScriptedRun['run'];

/** A transition that a machine really took, and where it then stood. */
export interface RealStep {
  readonly machine: string;
  readonly taken: AnyTransitionDefinition;
  readonly leaves: readonly string[];
}

/** The machines that really ran when a run had so many entries: where each stood, by its id. */
export interface RealStanding {
  readonly count: number;
  readonly leaves: Readonly<Record<string, readonly string[]>>;
}

/** Watches what XState itself says of a run, from when it is asked. */
export function watchRun(run: Run): { readonly steps: RealStep[]; readonly standings: RealStanding[] } {
  const steps: RealStep[] = [];
  const standings: RealStanding[] = [];
  run.actor.system.inspect((event: InspectionEvent) => {
    if (event.type !== '@xstate.microstep') return;
    for (const taken of transitionsTaken(event))
      if (taken.target !== undefined || taken.guard !== undefined)
        steps.push({ machine: taken.source.machine.id, taken, leaves: leavesOf(event.snapshot) });
  });
  run.actor.subscribe(() =>
    standings.push({ count: run.journal.length, leaves: runningIn(run.actor as unknown as AnyActor) }),
  );
  return { steps, standings };
}

function runningIn(actor: AnyActor): Record<string, readonly string[]> {
  const snapshot = actor.getSnapshot();
  const children = Object.values(snapshot.children ?? {}) as AnyActor[];
  // A machine that has ended stands until its parent has taken the end in.
  const machines = children.filter(
    (child) => child.logic instanceof StateMachine && child.getSnapshot().status !== 'stopped',
  );
  return Object.assign(
    { [(actor.logic as AnyStateMachine).id]: leavesOf(snapshot) },
    ...machines.map((child) => runningIn(child)),
  );
}

/** The innermost of its states. */
function leavesOf(snapshot: unknown): readonly string[] {
  const nodes = activeNodes(snapshot as AnyMachineSnapshot);
  return nodes.filter((node) => nodes.every(({ parent }) => parent !== node)).map(({ id }) => id);
}

/** The transitions of a machine itself, in the order of its chart. */
export function definitions(machine: AnyStateMachine): readonly AnyTransitionDefinition[] {
  const all: AnyTransitionDefinition[] = [];
  const visit = (node: AnyStateNode): void => {
    for (const group of [...node.transitions.values(), node.always ?? []]) all.push(...group);
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return all;
}

const own = new WeakMap<AnyStateMachine, readonly AnyTransitionDefinition[]>();

/** The place of a transition in its chart. Each machine that was given its ports has transitions of its own. */
export function realPlace(taken: AnyTransitionDefinition): number {
  const { machine } = taken.source;
  const cached = own.get(machine) ?? definitions(machine);
  own.set(machine, cached);
  return cached.indexOf(taken);
}
