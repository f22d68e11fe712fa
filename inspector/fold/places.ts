import type { JournalEntry } from '../../machines/contracts/journal.ts';

type EntryType = JournalEntry['type'];

/** The sequence numbers of the entries of each type, ascending. */
export interface Places {
  of(type: EntryType): readonly number[];
  /** The kind of an entry. */
  typeOf(seq: number): EntryType;
  /** The kinds that there are, the first seen first. */
  readonly types: readonly EntryType[];
}

const NONE: readonly number[] = [];

export function createPlaces(): { readonly places: Places; take(entry: JournalEntry): void } {
  const byType = new Map<EntryType, number[]>();
  const types: EntryType[] = [];
  return {
    places: {
      of: (type) => byType.get(type) ?? NONE,
      typeOf: (seq) => types[seq] ?? 'state',
      get types() {
        return [...byType.keys()];
      },
    },
    take({ type, seq }) {
      const there = byType.get(type);
      if (there === undefined) byType.set(type, [seq]);
      else there.push(seq);
      types.push(type);
    },
  };
}

/** An entry of one kind. */
export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { readonly type: Type }>;
