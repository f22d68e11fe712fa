import { exactText, isTagged } from './exact-json.ts';

/** Describes the first difference between two keys; null if they are equal. */
export function describeDifference(received: string, expected: string): string | null {
  if (received === expected) return null;
  const [here, there] = [received, expected].map((key) => {
    const [, status, rest, history, error, inputs, ...actors] = JSON.parse(key) as readonly unknown[];
    return { status, '': rest, history, error, inputs, actors };
  });
  return firstDifference(here, there, '') ?? 'the abstraction has another form';
}

function firstDifference(received: unknown, expected: unknown, path: string): string | null {
  if (isObject(received) && isObject(expected) && !isTagged(received) && !isTagged(expected)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(received)]);
    for (const name of names) {
      const difference = firstDifference(received[name], expected[name], [path, name].filter(Boolean).join('.'));
      if (difference !== null) return difference;
    }
    return null;
  }
  return exactText(received) === exactText(expected)
    ? null
    : `expected ${path || 'the abstraction'} to be ${shortened(expected)}, received ${shortened(received)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function shortened(value: unknown): string {
  const text = exactText(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
