import { diffArrays } from 'diff';

export type Pair<Value> = readonly [Value, Value];

/** One line of a comparison: the step of each run, as an index into its path; null if the run has none there. */
export interface Row {
  readonly steps: Pair<number | null>;
  readonly equal: boolean;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** Alternately equal rows and rows that differ. */
  readonly sections: readonly Section[];
  /** The index of the first row that differs; null if the paths are the same. */
  readonly first: number | null;
  readonly cutOff: boolean;
}

/** Consecutive rows that are all equal or all differ; `to` is exclusive. */
export interface Section {
  readonly equal: boolean;
  readonly from: number;
  readonly to: number;
}

/** Two paths side by side. Steps that differ are next to each other, in order. */
export function rowsOf<Item>(left: readonly Item[], right: readonly Item[]): Rows {
  const { stretches, cutOff } = align(left, right);
  const rows: Row[] = [];
  const sections: Section[] = [];
  for (const { equal, left: one, right: other } of stretches) {
    const from = rows.length;
    for (let at = 0; at < Math.max(one[1] - one[0], other[1] - other[0]); at += 1)
      rows.push({ steps: [stepIn(one, at), stepIn(other, at)], equal });
    sections.push({ equal, from, to: rows.length });
  }
  return { rows, sections, first: sections.find(({ equal }) => !equal)?.from ?? null, cutOff };
}

const stepIn = ([from, to]: Range, at: number): number | null => (from + at < to ? from + at : null);

type Range = readonly [from: number, to: number];

/** A range of each of two lists: either equal item by item, or without equal items. */
interface Stretch {
  readonly equal: boolean;
  readonly left: Range;
  readonly right: Range;
}

interface Alignment {
  readonly stretches: readonly Stretch[];
  /** The lists differ too much: nothing after the first difference was aligned. */
  readonly cutOff: boolean;
}

/** Items compared, times edits searched for: at most a few hundred milliseconds. */
const MAX_WORK = 4_000_000;
const MAX_EDITS = 1_500;

/** The common start and end of two lists, with the fewest edits in between. */
export function align<Item>(left: readonly Item[], right: readonly Item[]): Alignment {
  const min = Math.min(left.length, right.length);
  let start = 0;
  while (start < min && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < min - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const stretches: Stretch[] = [];
  let at: readonly [number, number] = [0, 0];
  const add = (equal: boolean, taken: number, others: number): void => {
    if (taken === 0 && others === 0) return;
    const next = [at[0] + taken, at[1] + others] as const;
    const last = stretches.at(-1);
    const joins = last !== undefined && last.equal === equal;
    const from = joins ? ([last.left[0], last.right[0]] as const) : at;
    if (joins) stretches.pop();
    stretches.push({ equal, left: [from[0], next[0]], right: [from[1], next[1]] });
    at = next;
  };

  add(true, start, start);
  const middle = [left.slice(start, left.length - end), right.slice(start, right.length - end)] as const;
  const changes = changesBetween(...middle);
  for (const { added, removed, count } of changes ?? []) {
    if (added) add(false, 0, count);
    else if (removed) add(false, count, 0);
    else add(true, count, count);
  }
  if (changes === undefined) add(false, middle[0].length, middle[1].length);
  add(true, end, end);
  return { stretches, cutOff: changes === undefined };
}

function changesBetween<Item>(left: readonly Item[], right: readonly Item[]) {
  const items = Math.max(1, left.length + right.length);
  const maxEditLength = Math.min(MAX_EDITS, Math.floor(MAX_WORK / items));
  return diffArrays([...left], [...right], { maxEditLength });
}
