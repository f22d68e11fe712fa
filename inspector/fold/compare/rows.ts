import { type Alignment, align } from './align.ts';

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
