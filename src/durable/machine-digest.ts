import type { AnyStateMachine } from 'xstate';
import { described } from '../xstate/ports.ts';
import { invokedLogics, isMachine } from '../xstate/states.ts';
import { chartOf } from './charts/chart.ts';
import { nodesOf } from './charts/chart-nodes.ts';

/** FNV-1a with two offsets: 16 hexadecimal digits. Identifies values; not cryptographic. */
export function digestOf(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x01000193;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x01000193) ^ (one >>> 13);
  }
  return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

const digests = new WeakMap<AnyStateMachine, string>();

/** Returns a digest of the states and transitions of a machine, and of the machines that it names or invokes. Descriptions, tags, actions of states and durations do not change it. */
export function machineDigest(machine: AnyStateMachine): string {
  const known = digests.get(machine);
  if (known !== undefined) return known;
  const outlines: unknown[] = [];
  for (const one of machinesOf(machine)) {
    const { states, transitions } = chartOf(one);
    outlines.push([
      one.id,
      states.map(({ id, name, parent, type, initial, invokes }) => ({ id, name, parent, type, initial, invokes })),
      transitions.map(({ delayMs: _, ...transition }) => transition),
    ]);
  }
  const digest = digestOf(JSON.stringify(outlines));
  digests.set(machine, digest);
  return digest;
}

/** Returns a machine and the machines below it, each once. */
export function machinesOf(machine: AnyStateMachine): ReadonlySet<AnyStateMachine> {
  const found = new Set([machine]);
  for (const one of found) {
    const logics: unknown[] = [
      ...Object.values(described(one).implementations.actors as object),
      ...nodesOf(one).flatMap(invokedLogics),
    ];
    for (const logic of logics) if (isMachine(logic)) found.add(logic);
  }
  return found;
}
