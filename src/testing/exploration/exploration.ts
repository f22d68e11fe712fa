import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import type { Chart } from '../../durable/charts/chart.ts';
import type { InstrumentedMachine, InstrumentedStep } from '../structure/instrumented-machine.ts';
import type { StandIns } from '../structure/running-actors.ts';
import type { Occurrence, Place } from './occurrences.ts';

/** A place in an exploration. `booked` is the number of ids that XState has generated. */
export interface ExploredPlace<Snapshot = AnyMachineSnapshot> extends Place<Snapshot> {
  readonly booked: number;
}

/** An abstract state: all snapshots with the same abstraction, represented by the first one reached. */
export interface ExploredState<Snapshot = AnyMachineSnapshot> extends ExploredPlace<Snapshot> {
  readonly id: number;
  readonly value: StateValue;
  /** Id of the edge that first reached the state; null for a start state. */
  readonly reachedBy: number | null;
  /** Steps from the start state. */
  readonly depth: number;
}

/** An event that occurred in a state, what the machine did, and the state that resulted. */
export interface ExploredEdge extends InstrumentedStep {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly occurrence: Occurrence;
  /** The snapshot that resulted, if an `abstraction` merged it into a known state. */
  readonly merged?: AnyMachineSnapshot;
}

/** The start with one input: what the machine does, and the state that results. */
export interface StartState extends InstrumentedStep {
  /** Name of the input. */
  readonly name: string;
  readonly input: unknown;
  readonly state: number;
}

/** The exploration that found the outcomes of a child machine. */
export interface ExploredChild {
  /** Name of the actor. */
  readonly name: string;
  readonly exploration: Exploration;
}

/** The reachable abstract states of a machine and the edges between them, ordered by distance from the start. */
export interface Exploration<Machine extends AnyStateMachine = AnyStateMachine, Snapshot = AnyMachineSnapshot> {
  readonly machine: Machine;
  /** The explored copy: it records its steps, and its actors are stubs or the given stand-ins. */
  readonly instrumented: InstrumentedMachine<AnyStateMachine>;
  readonly chart: Chart;
  readonly starts: readonly StartState[];
  readonly states: readonly ExploredState<Snapshot>[];
  readonly edges: readonly ExploredEdge[];
  /** Outgoing edges of each state, by its id. */
  readonly edgesFrom: readonly (readonly ExploredEdge[])[];
  /** The child machines whose outcomes were explored, once for each input. */
  readonly children: readonly ExploredChild[];
  /** False if the option `depth` cut off the exploration, or that of a child machine. */
  readonly isComplete: boolean;
  /** Names of the actions that the machine took and does not implement. */
  readonly unknownActions: ReadonlySet<string>;
  /** The given stand-ins, by actor name. */
  readonly standIns: StandIns;
  /** Returns a snapshot's abstraction as text. Snapshots with the same key, ended invoked actors and running delays are one state. */
  keyOf(snapshot: AnyMachineSnapshot, ended: readonly string[]): string;
  /** Returns every event that can occur. */
  possibleIn(place: ExploredPlace): readonly Occurrence[];
  /** Takes one pure step. */
  stepFrom(place: ExploredPlace, occurrence: Occurrence): ExploredPlace;
}
