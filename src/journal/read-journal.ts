import { PostChainError } from '../../machines/contracts/error.ts';
import { type JournalEntry, journalEntrySchema } from '../../machines/contracts/journal-entry.ts';

/**
 * The entries of a journal file, in order. A last line that was cut off, by a kill say, is left out. Throws `invalid_journal` for a
 * file that cannot be read, for a line that is no entry, and where entries are missing between others.
 */
export async function* readJournal(path: string): AsyncGenerator<JournalEntry> {
  let number = 0;
  let due = 0;
  let broken: PostChainError | null = null;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line.trim() === '') continue;
    if (broken !== null) throw broken;
    const value = jsonOf(line);
    if (value === undefined) {
      broken = refused(path, `line ${number} is no JSON`);
      continue;
    }
    const entry = entryOf(value);
    if (entry === null) throw refused(path, `line ${number} is no entry of a journal`);
    if (entry.seq !== due) throw refused(path, `line ${number} is entry ${entry.seq}, where ${due} was due`);
    due += 1;
    yield entry;
  }
  if (due === 0 && broken !== null) throw broken;
}

/** Only `\n` ends a line: JSON leaves every other line end of Unicode as it is within a text. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const { createReadStream } = await import('node:fs');
  let begun: string[] = [];
  try {
    for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
      const [first = '', ...others] = chunk.split('\n');
      begun.push(first);
      for (const other of others) {
        yield begun.join('');
        begun = [other];
      }
    }
  } catch (cause) {
    throw refused(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  if (begun.length > 0) yield begun.join('');
}

/** Undefined for what is no JSON, as every line is that was cut off. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function entryOf(value: unknown): JournalEntry | null {
  const read = journalEntrySchema.safeParse(value);
  return read.success ? (read.data as JournalEntry) : null;
}

function refused(path: string, why: string, cause?: unknown): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `${path}: ${why}; wanted the journal of a run, as "postchain run --journal FILE" writes it.`,
    { cause },
  );
}
