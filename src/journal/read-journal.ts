import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { lineReader, unreadable } from './journal-line.ts';

/**
 * The entries of a journal file, in order. A last line that no line feed ends, as a kill leaves it, is left out. Throws
 * `invalid_journal` for a file that cannot be read, and for a line that is no entry, that was changed since it was written, or that stands
 * in another place.
 */
export async function* readJournal(path: string): AsyncGenerator<JournalEntry> {
  const { linesOfFile } = await import('./line-file.ts');
  const reader = lineReader(path);
  try {
    for await (const line of linesOfFile(path)) yield reader.entry(line);
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  reader.end();
}
