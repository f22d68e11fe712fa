import type { AnyStateMachine } from 'xstate';
import { stateKey } from './items.ts';
import { nodesOf } from './nodes.ts';

/** The keys of the states that are entered with one: those around it, and those that it begins in. */
export function enteredBy(machine: AnyStateMachine) {
  const nodes = new Map(nodesOf(machine).map((node) => [node.id, node]));
  const within = (id: string): readonly string[] => {
    const node = nodes.get(id);
    if (node === undefined) return [];
    const inner = node.type === 'parallel' ? Object.values(node.states) : [...(node.initial?.target ?? [])];
    return [stateKey(id), ...inner.flatMap((one) => within(one.id))];
  };
  return (id: string): readonly string[] => {
    const around: string[] = [];
    for (let at = nodes.get(id)?.parent; at !== undefined; at = at.parent) around.push(stateKey(at.id));
    return [...around, ...within(id)];
  };
}
