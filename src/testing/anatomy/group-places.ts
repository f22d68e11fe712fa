import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { nodesOf } from './nodes.ts';

/** The candidates of a state for one event, with the place of the first in `Chart.transitions`; the others follow it. */
export interface GroupPlace {
  readonly state: string;
  /** As XState has it; empty for what is taken at once. */
  readonly eventType: string;
  readonly first: number;
  readonly size: number;
}

/** All groups of candidates of a machine, in the order of its chart. */
export function groupPlaces(machine: AnyStateMachine): readonly GroupPlace[] {
  let first = 0;
  return nodesOf(machine).flatMap((node) =>
    groupsOf(node).map(([eventType, { length: size }]) => {
      const place = { state: node.id, eventType, first, size };
      first += size;
      return place;
    }),
  );
}

const groupsOf = (node: AnyStateNode): readonly (readonly [string, readonly AnyTransitionDefinition[]])[] => [
  ...node.transitions,
  ['', node.always ?? []],
];
