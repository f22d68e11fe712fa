import type { AnyStateMachine } from 'xstate';
import { activeNodes } from '../../internal/xstate-internals.ts';
import { transitionsOf } from '../structure/chart-structure.ts';
import { delayKey, guardKey, outcomeKey, stateKey, transitionKey } from '../structure/coverage-items.ts';
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
  if (actor !== null && (kind === 'done' || kind === 'error')) keys.push(outcomeKey(actor.id, kind));
  if (kind === 'delay' && event.type.startsWith('xstate.after.')) keys.push(delayKey(event.type));
  return keys;
}

export const itemsOfStart = (exploration: Exploration, start: StartState): readonly string[] => [
  ...itemsOfStep(exploration, start),
  ...activeIn(exploration, start.state),
];

/** A transient state counts as reached if the step enters or leaves it, a delay also if it elapses at once. */
function itemsOfStep({ chart, machine }: Exploration, { taken, guards, entered }: InstrumentedStep): string[] {
  return [
    ...taken.flatMap((index) => {
      const keys = [transitionKey(index), stateKey(chart.transitions[index]?.source ?? '')];
      const eventType = eventTypesOf(machine)[index] ?? '';
      return eventType.startsWith('xstate.after.') ? [...keys, delayKey(eventType)] : keys;
    }),
    ...entered.map(stateKey),
    ...guards.map(({ transition, holds }) => guardKey(transition, holds)),
  ];
}

function activeIn({ states }: Exploration, id: number): readonly string[] {
  const snapshot = states[id]?.snapshot;
  return snapshot === undefined ? [] : activeNodes(snapshot).map((node) => stateKey(node.id));
}

const eventTypesByMachine = new WeakMap<AnyStateMachine, readonly string[]>();

/** The event types of all transitions; cached because every edge asks for them. */
function eventTypesOf(machine: AnyStateMachine): readonly string[] {
  const types = eventTypesByMachine.get(machine) ?? transitionsOf(machine).map(({ eventType }) => eventType);
  eventTypesByMachine.set(machine, types);
  return types;
}
