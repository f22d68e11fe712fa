import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { numbersIn } from './sorted.ts';

type EntryType = JournalEntry['type'];

/** The sequence numbers of the entries of each type, ascending. */
export interface EntryIndex {
  of(type: EntryType): readonly number[];
  typeOf(seq: number): EntryType;
}

const NONE: readonly number[] = [];

export function createEntryIndex(): { readonly entries: EntryIndex; take(entry: JournalEntry): void } {
  const byType = new Map<EntryType, number[]>();
  const types: EntryType[] = [];
  return {
    entries: {
      of: (type) => byType.get(type) ?? NONE,
      typeOf: (seq) => types[seq] ?? 'text-delta',
    },
    take({ type, seq }) {
      const cached = byType.get(type);
      if (cached === undefined) byType.set(type, [seq]);
      else cached.push(seq);
      types.push(type);
    },
  };
}

export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { readonly type: Type }>;

interface Entries {
  entry(seq: number): JournalEntry;
}

/** Returns an entry if it has this type. */
export function entryAt<Type extends EntryType>(
  log: Entries,
  seq: number | null | undefined,
  type: Type,
): EntryOf<Type> | null {
  const entry = seq == null ? null : log.entry(seq);
  return entry?.type === type ? (entry as EntryOf<Type>) : null;
}

/** Returns the entries of a type in a range with both of its ends. */
export const entriesIn = <Type extends EntryType>(
  log: Entries,
  entries: EntryIndex,
  type: Type,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): readonly EntryOf<Type>[] => numbersIn(entries.of(type), from, to).map((seq) => log.entry(seq) as EntryOf<Type>);
