import type { AnyStateMachine } from 'xstate';
import { activeNodes } from '../../internal/xstate-internals.ts';
import { transitionsOf } from '../structure/chart-structure.ts';
import { delayKey, guardKey, outcomeKey, stateKey, transitionKey } from '../structure/coverage-items.ts';
import { statesAtStart, statesEnteredBy } from '../structure/entered-states.ts';
import type { InstrumentedStep } from '../structure/instrumented-machine.ts';
import type { Exploration, ExploredEdge, StartState } from './exploration.ts';

/** Returns everything in the chart that an exploration reached, as keys of `coverageItems`. */
export function reachedItems(exploration: Exploration): ReadonlySet<string> {
  const reached = new Set<string>();
  const add = (keys: readonly string[]): void => {
    for (const key of keys) reached.add(key);
  };
  for (const start of exploration.starts) add(itemsOfStart(exploration, start));
  for (const edge of exploration.edges) add(itemsOfEdge(exploration, edge));
  return reached;
}

/** Returns the parts of the chart that an edge reaches, as keys of `coverageItems`. */
export function itemsOfEdge(exploration: Exploration, edge: ExploredEdge): readonly string[] {
  const { occurrence, taken } = edge;
  const { kind, event, actor } = occurrence;
  const keys = [...itemsOfStep(exploration, edge), ...activeIn(exploration, edge.to)];
  if (taken.length === 0) return keys;
  if (actor !== null && (kind === 'done' || kind === 'error')) keys.push(outcomeKey(actor, kind));
  if (kind === 'delay') keys.push(delayKey(event.type));
  return keys;
}

export const itemsOfStart = (exploration: Exploration, start: StartState): readonly string[] => [
  ...statesAtStart(exploration.machine),
  ...itemsOfStep(exploration, start),
  ...activeIn(exploration, start.state),
];

/** A transient state counts as reached if a transition enters or leaves it. */
function itemsOfStep(exploration: Exploration, { taken, guards }: InstrumentedStep): string[] {
  const { chart } = exploration;
  const entered = enteredByTransition(exploration);
  return [
    ...taken.flatMap((index) => {
      const source = chart.transitions[index]?.source ?? '';
      return [transitionKey(index), stateKey(source), ...(entered[index] ?? [])];
    }),
    ...guards.map(({ transition, holds }) => guardKey(transition, holds)),
  ];
}

function activeIn({ states }: Exploration, id: number): readonly string[] {
  const snapshot = states[id]?.snapshot;
  return snapshot === undefined ? [] : activeNodes(snapshot).map((node) => stateKey(node.id));
}

const enteredByMachine = new WeakMap<AnyStateMachine, readonly (readonly string[])[]>();

/** The states that each transition enters, by its index; cached because every edge asks for it. */
function enteredByTransition({ machine }: Exploration): readonly (readonly string[])[] {
  const entered = enteredByMachine.get(machine) ?? transitionsOf(machine).map(statesEnteredBy);
  enteredByMachine.set(machine, entered);
  return entered;
}
