import type { AnyMachineSnapshot } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../first-line.ts';

/**
 * What makes a difference in a snapshot, as JSON: where it stands, what its states with a history remember, and what the abstraction has of it;
 * without one, all of its context.
 */
export function keysBy(abstraction: ((snapshot: AnyMachineSnapshot) => unknown) | undefined) {
  return (snapshot: AnyMachineSnapshot): string => {
    const { value, status } = snapshot;
    const rest =
      abstraction === undefined ? { context: snapshot.context, output: snapshot.output } : abstraction(snapshot);
    try {
      if (abstraction === undefined) requireNoCollection(snapshot.context);
      return JSON.stringify([value, status, rest, remembered(snapshot)]) ?? '';
    } catch (cause) {
      throw new PostChainError(
        'exploration_failed',
        `What makes a difference in ${JSON.stringify(value)} is no JSON (${firstLineOf(cause)}): give an abstraction that is.`,
        { cause },
      );
    }
  };
}

/** Two of them with other things within would be the same JSON. */
function requireNoCollection(context: unknown): void {
  for (const [name, value] of Object.entries(context ?? {}))
    if (value instanceof Map || value instanceof Set)
      throw new TypeError(`${name} is a ${value instanceof Map ? 'Map' : 'Set'}`);
}

/** XState remembers active states by the ids of history states. */
const remembered = ({ historyValue }: AnyMachineSnapshot): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(historyValue)
      .map(([id, nodes]) => [id, nodes.map((node) => node.id).sort()] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Where two keys differ, in words: the first of what makes a difference; null where they do not. */
export function differenceOf(got: string, wanted: string): string | null {
  if (got === wanted) return null;
  const [here, there] = [got, wanted].map((key) => {
    const [, status, rest, history] = JSON.parse(key) as readonly unknown[];
    return { 'its status': status, '': rest, 'its history': history };
  });
  return firstDifference(here, there, '') ?? 'what makes a difference has another form';
}

function firstDifference(got: unknown, wanted: unknown, path: string): string | null {
  if (hasParts(got) && hasParts(wanted)) {
    const names = new Set([...Object.keys(wanted), ...Object.keys(got)]);
    const found = [...names].map((name) =>
      firstDifference(got[name], wanted[name], [path, name].filter(Boolean).join('.')),
    );
    return found.find((difference) => difference !== null) ?? null;
  }
  const [here, there] = [inShort(got), inShort(wanted)];
  return JSON.stringify(got) === JSON.stringify(wanted)
    ? null
    : `${path || 'what its abstraction has'} is ${here}, wanted ${there}`;
}

const hasParts = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function inShort(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
