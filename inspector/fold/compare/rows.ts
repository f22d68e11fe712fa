import { diffArrays } from 'diff';

/** One line of a comparison: the step of each run, by its place in its path; null where a run has none there. */
export interface Row {
  readonly steps: readonly (number | null)[];
  readonly equal: boolean;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** The place of the first that is not equal; null where the paths are the same. */
  readonly first: number | null;
  readonly cutOff: boolean;
}

interface Beside {
  /** What stands beside each step of the first run, and whether it is the same. */
  readonly partner: readonly ({ readonly at: number; readonly equal: boolean } | undefined)[];
  /** What comes before each step of the first run, and after its last, with nothing beside it. */
  readonly extra: ReadonlyMap<number, readonly number[]>;
}

/** Paths side by side, all against the first. Steps that differ stand beside each other in their order. */
export function rowsOf<Item>(paths: readonly (readonly Item[])[]): Rows {
  const [first = [], ...others] = paths;
  const alignments = others.map((path) => align(first, path));
  const sides = alignments.map(besideOf);
  const rows: Row[] = [];
  for (let at = 0; at <= first.length; at += 1) {
    const extras = sides.map(({ extra }) => extra.get(at) ?? []);
    const most = Math.max(0, ...extras.map(({ length }) => length));
    for (let line = 0; line < most; line += 1)
      rows.push({ steps: [null, ...extras.map((extra) => extra[line] ?? null)], equal: false });
    if (at === first.length) break;
    const partners = sides.map(({ partner }) => partner[at]);
    rows.push({
      steps: [at, ...partners.map((partner) => partner?.at ?? null)],
      equal: partners.every((partner) => partner?.equal === true),
    });
  }
  const differs = rows.findIndex(({ equal }) => !equal);
  return { rows, first: differs < 0 ? null : differs, cutOff: alignments.some(({ cutOff }) => cutOff) };
}

function besideOf({ stretches }: Alignment): Beside {
  const partner: { readonly at: number; readonly equal: boolean }[] = [];
  const extra = new Map<number, number[]>();
  for (const { equal, left, right } of stretches) {
    const [from, to] = left;
    for (let at = right[0]; at < right[1]; at += 1) {
      const beside = from + at - right[0];
      if (beside < to) partner[beside] = { at, equal };
      else push(extra, to, at);
    }
  }
  return { partner, extra };
}

function push(lists: Map<number, number[]>, key: number, item: number): void {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  list.push(item);
}

/** A stretch of two lists, from a place on and up to another: equal item by item, or not at all. */
interface Stretch {
  readonly equal: boolean;
  readonly left: readonly [from: number, to: number];
  readonly right: readonly [from: number, to: number];
}

interface Alignment {
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
