import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';

/** A journal as a list. */
export async function entriesOf(journal: AsyncIterable<JournalEntry>): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of journal) entries.push(entry);
  return entries;
}
