import type { JournalEntry } from '../../../machines/contracts/journal.ts';

export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;

/** What is done with each kind of entry; those that are left out say nothing here. */
export type Handlers = { readonly [Type in JournalEntry['type']]?: (entry: EntryOf<Type>) => void };

export function handle(handlers: Handlers, entry: JournalEntry): void {
  (handlers[entry.type] as ((entry: JournalEntry) => void) | undefined)?.(entry);
}
