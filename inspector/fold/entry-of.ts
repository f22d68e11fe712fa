import type { JournalEntry } from '../../machines/contracts/journal.ts';

/** An entry of one kind. */
export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { readonly type: Type }>;
