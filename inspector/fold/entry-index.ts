import type { JournalEntry } from '../../machines/contracts/journal.ts';

type EntryType = JournalEntry['type'];

/** The sequence numbers of the entries of each type, ascending. */
export interface EntryIndex {
  of(type: EntryType): readonly number[];
  typeOf(seq: number): EntryType;
  /** The types that occur, in order of first appearance. */
  readonly types: readonly EntryType[];
}

const NONE: readonly number[] = [];

export function createEntryIndex(): { readonly entries: EntryIndex; take(entry: JournalEntry): void } {
  const byType = new Map<EntryType, number[]>();
  const types: EntryType[] = [];
  return {
    entries: {
      of: (type) => byType.get(type) ?? NONE,
      typeOf: (seq) => types[seq] ?? 'text-delta',
      get types() {
        return [...byType.keys()];
      },
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
