import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { nodesOf } from './nodes.ts';

/** The candidates of a state for one event, in the order in which they are tried. */
export interface Group {
  readonly node: AnyStateNode;
  /** As XState has it; empty for what is taken at once. */
  readonly eventType: string;
  readonly candidates: readonly AnyTransitionDefinition[];
}

/** All groups of a machine. Their candidates, one after the other, are `chartOf(machine).transitions`. */
export function groupsOf(machine: AnyStateMachine): readonly Group[] {
  return nodesOf(machine).flatMap((node) => [
    ...[...node.transitions].map(([eventType, candidates]): Group => ({ node, eventType, candidates })),
    ...(node.always === undefined ? [] : [{ node, eventType: '', candidates: node.always }]),
  ]);
}

/** All transitions of a machine, in the order of its chart. */
export const transitionsOf = (machine: AnyStateMachine): readonly AnyTransitionDefinition[] =>
  groupsOf(machine).flatMap(({ candidates }) => candidates);
