import type { AnyMachineSnapshot } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ExploredState } from './exploration.ts';

const MOST_NAMED = 3;

/** There are too many states: where most of them are, and what of the context makes them differ. */
export function explosion(
  machine: string,
  states: readonly ExploredState<AnyMachineSnapshot>[],
  limit: number,
  hasAbstraction: boolean,
): PostChainError {
  const byValue = new Map<string, ExploredState<AnyMachineSnapshot>[]>();
  for (const state of states) {
    const value = JSON.stringify(state.value);
    const alike = byValue.get(value) ?? [];
    alike.push(state);
    byValue.set(value, alike);
  }
  const [[value, alike] = ['', []]] = [...byValue].sort(([, one], [, other]) => other.length - one.length);
  const varied = variedIn(alike.map(({ snapshot }) => snapshot.context));
  const fields = varied.slice(0, MOST_NAMED).map(([name, count]) => `context.${name} has ${count} values`);
  const what = fields.length === 0 ? 'they differ in nothing of their context' : fields.join(', ');
  const todo = hasAbstraction
    ? 'let the abstraction leave more out'
    : 'give an abstraction that leaves out what decides nothing';
  return new PostChainError(
    'exploration_failed',
    `${machine} has more than ${limit} states: ${alike.length} of them are ${value}, where ${what}; ${todo}, or raise the limit.`,
  );
}

/** The members of contexts by how many values they have; those with one are left out. */
function variedIn(contexts: readonly unknown[]): readonly (readonly [string, number])[] {
  const values = new Map<string, Set<string>>();
  for (const context of contexts)
    for (const [name, value] of Object.entries(context ?? {})) {
      const there = values.get(name) ?? new Set();
      values.set(name, there.add(textOf(value)));
    }
  return [...values]
    .map(([name, { size }]) => [name, size] as const)
    .filter(([, count]) => count > 1)
    .sort(([, one], [, other]) => other - one);
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
