import { diffArrays } from 'diff';

export type Pair<Value> = readonly [Value, Value];

export const both = <From, To>([a, b]: Pair<From>, map: (value: From) => To): Pair<To> => [map(a), map(b)];

/** One line of a comparison: the step of each run, as an index into its path; null if the run has none there. */
export interface ComparedRow {
  readonly steps: Pair<number | null>;
  readonly equal: boolean;
}

export interface Rows {
  readonly rows: readonly ComparedRow[];
  /** The index of the first row that differs, which is also that of its steps; null if the paths are the same. */
  readonly first: number | null;
  /** The paths differ too much: nothing after the first difference was aligned. */
  readonly cutOff: boolean;
}

/** Items compared, times edits searched for: at most a few hundred milliseconds. */
const MAX_WORK = 4_000_000;
const MAX_EDITS = 1_500;

/**
 * Two paths side by side: their common start, then the two steps with which they part, and after these as many equal steps as possible.
 * The steps at the parting stay together, although one may occur again in the other path.
 */
export function rowsOf<Item>(left: readonly Item[], right: readonly Item[]): Rows {
  const rows: ComparedRow[] = [];
  const last = Math.max(left.length, right.length);
  while (rows.length < last && left[rows.length] === right[rows.length])
    rows.push({ steps: [rows.length, rows.length], equal: true });
  const first = rows.length;
  if (first === last) return { rows, first: null, cutOff: false };

  const at: [number, number] = [first, first];
  const ends: Pair<number> = [left.length, right.length];
  const take = (run: 0 | 1): number | null => (at[run] < ends[run] ? at[run]++ : null);
  const add = (counts: Pair<number>, equal: boolean): void => {
    for (let index = 0; index < Math.max(...counts); index += 1)
      rows.push({ steps: [index < counts[0] ? take(0) : null, index < counts[1] ? take(1) : null], equal });
  };
  add([1, 1], false);
  const rest: Pair<Item[]> = [left.slice(first + 1), right.slice(first + 1)];
  const maxEditLength = Math.min(MAX_EDITS, Math.floor(MAX_WORK / (1 + rest[0].length + rest[1].length)));
  const changes = diffArrays(...rest, { maxEditLength });
  if (changes === undefined) add([rest[0].length, rest[1].length], false);
  let parted: [number, number] = [0, 0];
  for (const { added, removed, count } of changes ?? []) {
    if (added) parted[1] += count;
    else if (removed) parted[0] += count;
    else {
      add(parted, false);
      parted = [0, 0];
      add([count, count], true);
    }
  }
  add(parted, false);
  return { rows, first, cutOff: changes === undefined };
}
