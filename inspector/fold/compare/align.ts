import { diffArrays } from 'diff';

/** A stretch of two lists, from a place on and up to another: equal item by item, or not at all. */
interface Stretch {
  readonly equal: boolean;
  readonly left: readonly [from: number, to: number];
  readonly right: readonly [from: number, to: number];
}

export interface Alignment {
  readonly stretches: readonly Stretch[];
  /** After the first difference nothing was aligned: there is too much of it. */
  readonly cutOff: boolean;
}

/** Items that are compared, times edits that are looked for: some hundred milliseconds at most. */
const MOST_WORK = 4_000_000;
const MOST_EDITS = 1_500;

/** What two lists begin with in common, what they end with in common, and the least edits between. */
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
  const maxEditLength = Math.min(MOST_EDITS, Math.floor(MOST_WORK / items));
  return diffArrays([...left], [...right], { maxEditLength });
}
