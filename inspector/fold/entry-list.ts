import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { type EntryGroup, groupOf } from './entry-groups.ts';
import type { Places } from './places.ts';
import { countUpTo } from './sorted.ts';

/** The entries that a list shows, in order. */
export interface EntryList {
  readonly size: number;
  seqAt(place: number): number;
  /** Where the last one stands that is at or before an entry; -1 where none is. */
  placeOf(seq: number): number;
}

/** All of the first so many entries. */
const wholeList = (count: number): EntryList => ({
  size: count,
  seqAt: (place) => place,
  placeOf: (seq) => Math.min(seq, count - 1),
});

/** These alone, in ascending order. */
export const listOf = (seqs: readonly number[]): EntryList => ({
  size: seqs.length,
  seqAt: (place) => seqs[place] ?? 0,
  placeOf: (seq) => countUpTo(seqs, seq) - 1,
});

/** How many entries of each group there are. */
export function groupCounts(places: Places): ReadonlyMap<EntryGroup, number> {
  const counts = new Map<EntryGroup, number>();
  for (const type of places.types) {
    const group = groupOf(type);
    counts.set(group, (counts.get(group) ?? 0) + places.of(type).length);
  }
  return counts;
}

/** The entries without those of some groups. It takes each entry once, as the run grows. */
export function createGroupFilter(places: Places, hidden: ReadonlySet<EntryGroup>) {
  const seqs: number[] = [];
  const isHidden = (type: JournalEntry['type']): boolean => hidden.has(groupOf(type));
  let taken = 0;
  return {
    isHidden,
    listOf(count: number): EntryList {
      if (hidden.size === 0) return wholeList(count);
      for (; taken < count; taken += 1) if (!isHidden(places.typeOf(taken))) seqs.push(taken);
      return listOf(seqs);
    },
  };
}
