import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';

type ReadStored = ((entry: DurableEntry) => unknown) | null;

const CACHE_SIZE = 256;

/**
 * The entries of one run, append-only. They are kept as text, which takes a third of the memory, and parsed on demand;
 * the latest parsed ones are cached.
 */
export class RunLog {
  readonly #lines: string[] = [];
  readonly #parsed = new Map<number, JournalEntry>();
  /** Why the entries end early: one is invalid. Nothing is added after it. */
  problem: string | null = null;

  get count(): number {
    return this.#lines.length;
  }

  /** Appends entries and passes each to `onEntry`. `read` converts stored entries, for example `readEntry` for those of a run. */
  add(lines: readonly string[], onEntry: (entry: JournalEntry) => void, read: ReadStored = null): void {
    for (const line of lines) {
      if (this.problem !== null) return;
      const seq = this.count;
      const entry = entryIn(line, seq, read);
      this.#lines.push(read === null ? line : JSON.stringify(entry));
      if (entry !== null && isAccepted(entry, onEntry)) continue;
      this.#lines.pop();
      this.problem = `Entry ${seq} cannot be read: not a journal entry. The entries before it are shown.`;
    }
  }

  /** `seq` must be below `count`. */
  entry(seq: number): JournalEntry {
    return this.#parsed.get(seq) ?? this.#read(seq);
  }

  #read(seq: number): JournalEntry {
    const entry = JSON.parse(this.#lines[seq] ?? 'null') as JournalEntry;
    if (this.#parsed.size >= CACHE_SIZE)
      for (const oldest of [...this.#parsed.keys()].slice(0, CACHE_SIZE / 2)) this.#parsed.delete(oldest);
    this.#parsed.set(seq, entry);
    return entry;
  }
}

/** An entry without the members of its type is invalid, too. */
function isAccepted(entry: JournalEntry, onEntry: (entry: JournalEntry) => void): boolean {
  try {
    onEntry(entry);
    return true;
  } catch {
    return false;
  }
}

/** Parses a line; null if it is not an entry with this number. Servers validate entries, but a file can contain anything. */
function entryIn(line: string, expectedSeq: number, read: ReadStored): JournalEntry | null {
  try {
    const value = JSON.parse(line);
    const entry = (read === null ? value : read(value)) as Partial<JournalEntry> | null;
    const { seq, atMs, type } = entry ?? {};
    return seq === expectedSeq && Number.isFinite(atMs) && typeof type === 'string' ? (entry as JournalEntry) : null;
  } catch {
    return null;
  }
}
