import { diffArrays } from 'diff';

export type Pair<Value> = readonly [Value, Value];

/** One line of a comparison: the step of each run, as an index into its path; null if the run has none there. */
export interface Row {
  readonly steps: Pair<number | null>;
  readonly equal: boolean;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** The index of the first row that differs; null if the paths are the same. */
  readonly first: number | null;
  readonly cutOff: boolean;
}

/** Two paths side by side. Steps that differ stand next to each other, in their order. */
export function rowsOf<Item>(left: readonly Item[], right: readonly Item[]): Rows {
  const { stretches, cutOff } = align(left, right);
  const rows: Row[] = [];
  for (const { equal, left: one, right: other } of stretches)
    for (let at = 0; at < Math.max(one[1] - one[0], other[1] - other[0]); at += 1)
      rows.push({ steps: [stepIn(one, at), stepIn(other, at)], equal });
  const differs = rows.findIndex(({ equal }) => !equal);
  return { rows, first: differs < 0 ? null : differs, cutOff };
}

const stepIn = ([from, to]: Range, at: number): number | null => (from + at < to ? from + at : null);

/** A run of rows, shown as one group; `to` is exclusive. */
export interface Section {
  readonly equal: boolean;
  readonly from: number;
  readonly to: number;
}

/** Consecutive equal rows form one section, and so do consecutive rows that differ. */
export function sectionsOf(rows: readonly Row[]): readonly Section[] {
  const sections: Section[] = [];
  let from = 0;
  for (let at = 1; at <= rows.length; at += 1) {
    const equal = rows[from]?.equal ?? false;
    if (at < rows.length && rows[at]?.equal === equal) continue;
    sections.push({ equal, from, to: at });
    from = at;
  }
  return sections;
}

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
  const least = Math.min(left.length, right.length);
  let start = 0;
  while (start < least && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < least - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
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
