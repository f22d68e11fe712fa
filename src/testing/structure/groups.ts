import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { nodesOf } from './nodes.ts';

/** The candidates of a state for one event, in the order in which they are tried. */
export interface Group {
  readonly node: AnyStateNode;
  /** As XState has it; empty for what is taken at once. */
  readonly eventType: string;
  readonly candidates: readonly AnyTransitionDefinition[];
  /** The place of the first in `chartOf(machine).transitions`; the others follow it. */
  readonly first: number;
}

/** All groups of a machine, in the order of its chart. */
export function groupsOf(machine: AnyStateMachine): readonly Group[] {
  let first = 0;
  return nodesOf(machine).flatMap((node) =>
    [...node.transitions, ['', node.always ?? []] as const].map(([eventType, candidates]) => {
      const group = { node, eventType, candidates, first };
      first += candidates.length;
      return group;
    }),
  );
}

/** All transitions of a machine, in the order of its chart. */
export const transitionsOf = (machine: AnyStateMachine): readonly AnyTransitionDefinition[] =>
  groupsOf(machine).flatMap(({ candidates }) => candidates);
