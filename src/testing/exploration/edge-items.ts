import type { AnyStateMachine } from 'xstate';
import { activeNodes } from '../../internal/xstate-internals.ts';
import { enteredAtStart, enteredBy } from '../structure/entered.ts';
import { transitionsOf } from '../structure/groups.ts';
import type { InstrumentedStep } from '../structure/instrumented-machine.ts';
import { delayKey, guardKey, outcomeKey, stateKey, transitionKey } from '../structure/items.ts';
import type { Beginning, Exploration, ExploredEdge } from './exploration.ts';

/** What of its chart an edge brings about, as keys of `coverageItems`. */
export function itemsOfEdge(exploration: Exploration, edge: ExploredEdge): readonly string[] {
  const { occurrence, taken } = edge;
  const { kind, event, actor } = occurrence;
  const keys = [...itemsOfStep(exploration, edge), ...restingIn(exploration, edge.to)];
  if (taken.length === 0) return keys;
  if (actor !== null && (kind === 'done' || kind === 'error')) keys.push(outcomeKey(actor, kind));
  if (kind === 'delay') keys.push(delayKey(event.type));
  return keys;
}

export const itemsOfBeginning = (exploration: Exploration, beginning: Beginning): readonly string[] => [
  ...enteredAtStart(exploration.machine),
  ...itemsOfStep(exploration, beginning),
  ...restingIn(exploration, beginning.state),
];

/** A state that is gone through at once was there where a transition led to it, or into it, or out of it. */
function itemsOfStep(exploration: Exploration, { taken, verdicts }: InstrumentedStep): string[] {
  const { chart } = exploration;
  const entered = enteredIn(exploration);
  return [
    ...taken.flatMap((place) => {
      const source = chart.transitions[place]?.source ?? '';
      return [transitionKey(place), stateKey(source), ...(entered[place] ?? [])];
    }),
    ...verdicts.map(({ place, holds }) => guardKey(place, holds)),
  ];
}

function restingIn({ states }: Exploration, id: number): readonly string[] {
  const snapshot = states[id]?.snapshot;
  return snapshot === undefined ? [] : activeNodes(snapshot).map((node) => stateKey(node.id));
}

const known = new WeakMap<AnyStateMachine, readonly (readonly string[])[]>();

/** By the places of transitions. Asked for every edge, the same of a machine. */
function enteredIn({ machine }: Exploration): readonly (readonly string[])[] {
  const entered = known.get(machine) ?? transitionsOf(machine).map(enteredBy);
  known.set(machine, entered);
  return entered;
}
