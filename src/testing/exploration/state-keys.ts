import type { AnyMachineSnapshot } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../../internal/printable.ts';
import { spawnedActors } from './occurrences.ts';

/**
 * Returns a function that identifies a snapshot's abstract state as JSON: its state value and status, its history states, its spawned
 * actors, and the abstraction; without an abstraction, the entire context and output.
 */
export function createStateKey(abstraction: ((snapshot: AnyMachineSnapshot) => unknown) | undefined) {
  return (snapshot: AnyMachineSnapshot): string => {
    const { value, status, context, output } = snapshot;
    const rest = abstraction === undefined ? { context, output } : abstraction(snapshot);
    try {
      if (abstraction === undefined) requireNoCollection(context);
      return JSON.stringify([value, status, rest, historyOf(snapshot), ...spawnedIds(snapshot)]) ?? '';
    } catch (cause) {
      throw new PostChainError(
        'exploration_failed',
        `The abstraction of ${JSON.stringify(value)} is not JSON (${firstLineOf(cause)}); pass an "abstraction" that returns JSON`,
        { cause },
      );
    }
  };
}

const spawnedIds = (snapshot: AnyMachineSnapshot): readonly string[] =>
  spawnedActors(snapshot)
    .map(({ id }) => id)
    .sort();

/** JSON leaves out the contents of a Map or Set, so different ones would be equal. */
function requireNoCollection(context: unknown): void {
  for (const [name, value] of Object.entries(context ?? {}))
    if (value instanceof Map || value instanceof Set)
      throw new TypeError(`context.${name} is a ${value instanceof Map ? 'Map' : 'Set'}`);
}

/** The active states that XState remembers, by the ids of history states. */
const historyOf = ({ historyValue }: AnyMachineSnapshot): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(historyValue)
      .map(([id, nodes]) => [id, nodes.map((node) => node.id).sort()] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Describes the first difference between two keys; null if they are equal. */
export function describeDifference(received: string, expected: string): string | null {
  if (received === expected) return null;
  const [here, there] = [received, expected].map((key) => {
    const [, status, rest, history] = JSON.parse(key) as readonly unknown[];
    return { status, '': rest, history };
  });
  return firstDifference(here, there, '') ?? 'the abstraction has another form';
}

function firstDifference(received: unknown, expected: unknown, path: string): string | null {
  if (isObject(received) && isObject(expected)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(received)]);
    for (const name of names) {
      const difference = firstDifference(received[name], expected[name], [path, name].filter(Boolean).join('.'));
      if (difference !== null) return difference;
    }
    return null;
  }
  return JSON.stringify(received) === JSON.stringify(expected)
    ? null
    : `expected ${path || 'the abstraction'} to be ${shortened(expected)}, received ${shortened(received)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
