import { countUpTo } from './sorted.ts';

/** What has come together by each entry: a number that only grows, looked up by searching. */
export interface RunningSum {
  /** Entries must come in order. */
  add(seq: number, amount: number): void;
  by(seq: number): number;
}

export function createRunningSum(): RunningSum {
  const seqs: number[] = [];
  const sums: number[] = [];
  return {
    add(seq, amount) {
      seqs.push(seq);
      sums.push((sums.at(-1) ?? 0) + amount);
    },
    by: (seq) => sums[countUpTo(seqs, seq) - 1] ?? 0,
  };
}

/** When something was so, from one entry to another, again and again. */
export interface Stays {
  begin(seq: number): void;
  end(seq: number): void;
  /** How often it had begun by an entry, and how long it had been so, by the times of the entries. */
  by(seq: number): { readonly visits: number; readonly ms: number };
}

export function createStays(msOf: (seq: number) => number): Stays {
  const from: number[] = [];
  const to: number[] = [];
  /** All that were over when each began, together. */
  const before: number[] = [];
  const lengthOf = (at: number, end: number): number => Math.max(0, msOf(end) - msOf(from[at] ?? end));
  return {
    begin(seq) {
      const last = from.length - 1;
      before.push(last < 0 ? 0 : (before[last] ?? 0) + lengthOf(last, to[last] ?? seq));
      from.push(seq);
    },
    end(seq) {
      to.push(seq);
    },
    by(seq) {
      const visits = countUpTo(from, seq);
      if (visits === 0) return { visits, ms: 0 };
      const last = visits - 1;
      return { visits, ms: (before[last] ?? 0) + lengthOf(last, Math.min(seq, to[last] ?? seq)) };
    },
  };
}
