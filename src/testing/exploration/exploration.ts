import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import type { Chart } from '../../engine/charts/chart.ts';
import type { InstrumentedMachine, InstrumentedStep } from '../structure/instrumented-machine.ts';
import type { Occurrence } from './occurrence.ts';

/** An abstract state: all concrete ones with the same abstraction, of which the first that was reached is kept. */
export interface ExploredState<Snapshot = AnyMachineSnapshot> {
  readonly id: number;
  readonly value: StateValue;
  readonly snapshot: Snapshot;
  /** The edge by which it was reached first; null where it is a beginning. */
  readonly reachedBy: number | null;
  /** Steps from its beginning. */
  readonly depth: number;
  /** Actors that have ended, or were stopped, in a state which goes on without them; by their ids. */
  readonly ended: readonly string[];
}

/** What happened in a state, what the machine did then, and where that led. */
export interface ExploredEdge extends InstrumentedStep {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly occurrence: Occurrence;
}

/** Where a run begins: its input by its name, and what the machine does as it starts. */
export interface Beginning extends InstrumentedStep {
  readonly name: string;
  readonly input: unknown;
  readonly state: number;
}

/** The reachable abstract states of a machine, and the edges between them, in the order of their distance. */
export interface Exploration<Machine extends AnyStateMachine = AnyStateMachine, Snapshot = AnyMachineSnapshot> {
  readonly machine: Machine;
  /** The copy that was explored: its actors do nothing, but for those that have a stand-in, and it tells what it does. */
  readonly told: InstrumentedMachine<AnyStateMachine>;
  readonly chart: Chart;
  readonly beginnings: readonly Beginning[];
  readonly states: readonly ExploredState<Snapshot>[];
  readonly edges: readonly ExploredEdge[];
  /** Nothing was left out for being too far from its beginning. */
  readonly isWhole: boolean;
  /** What makes a difference in a snapshot, as text: those with the same, and the same actors that ended, are one state. */
  keyOf(snapshot: AnyMachineSnapshot): string;
  /** All that can happen to a snapshot, whose actors with these ids have ended. */
  possibleIn(snapshot: AnyMachineSnapshot, ended: readonly string[]): readonly Occurrence[];
  /** Edges out of each state, by its id. */
  readonly edgesFrom: readonly (readonly ExploredEdge[])[];
}
