import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { clipped } from '../../../machines/text/clipped.ts';

/** Where a replay is no longer what was recorded: the first entry that differs, null on the side that has none. */
export interface Divergence {
  readonly seq: number;
  readonly recorded: JournalEntry | null;
  readonly replayed: JournalEntry | null;
}

const MAX_SIDE_CHARS = 300;

/** Both sides in one line: of two entries of a type, only the first place where they differ. */
export function divergenceText({ seq, recorded, replayed }: Divergence): string {
  const alike = recorded !== null && recorded.type === replayed?.type;
  const { path, one, other } = alike
    ? firstDifference(recorded, replayed)
    : { path: '', one: recorded, other: replayed };
  const place = path === '' ? `entry ${seq}` : `entry ${seq} (${recorded?.type}): ${path}`;
  return `${place} is ${side(one)} in the recording, and ${side(other)} now`;
}

interface Difference {
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

function firstDifference(one: unknown, other: unknown, path = ''): Difference {
  if (isObject(one) && isObject(other) && Array.isArray(one) === Array.isArray(other)) {
    const differs = (name: string): boolean => JSON.stringify(one[name]) !== JSON.stringify(other[name]);
    const name = Object.keys({ ...one, ...other }).find(differs);
    if (name !== undefined) return firstDifference(one[name], other[name], path === '' ? name : `${path}.${name}`);
  }
  return { path, one, other };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function side(value: unknown): string {
  return value === null || value === undefined ? 'nothing' : clipped(JSON.stringify(value), MAX_SIDE_CHARS);
}
