import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';

/** An entry of one kind. */
export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { readonly type: Type }>;
