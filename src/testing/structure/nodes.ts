import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** All states of a machine, each before those within it, as they stand in its chart. */
export function nodesOf({ root }: AnyStateMachine): readonly AnyStateNode[] {
  const all: AnyStateNode[] = [];
  const visit = (node: AnyStateNode): void => {
    all.push(node);
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(root);
  return all;
}
