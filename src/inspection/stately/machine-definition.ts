import type { AnyStateMachine } from 'xstate';

const texts = new WeakMap<AnyStateMachine, string>();

/** A machine's configuration as the package writes it: a function is an object of its name. Nothing is sorted, and nothing cut. */
export function machineDefinition(machine: AnyStateMachine): string {
  const known = texts.get(machine);
  if (known !== undefined) return known;
  const text = JSON.stringify(machine.config, (_, value) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  texts.set(machine, text);
  return text;
}
