import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';

/**
 * The entries of one run, append-only. They are kept as text, which takes a third of the memory, and parsed on demand;
 * the latest parsed ones are cached.
 */
export interface RunLog {
  readonly count: number;
  /** Why the entries end early: one is invalid. Nothing is added after it. */
  readonly problem: string | null;
  /** Appends entries and passes each to `onEntry`. `read` converts stored entries, for example `readEntry` for those of a run. */
  add(lines: readonly string[], onEntry: (entry: JournalEntry) => void, read?: ReadStored): void;
  /** `seq` must be below `count`. */
  entry(seq: number): JournalEntry;
}

type ReadStored = ((entry: DurableEntry) => unknown) | null;

const CACHE_SIZE = 256;

export function createRunLog(): RunLog {
  const lines: string[] = [];
  const parsed = new Map<number, JournalEntry>();
  let problem: string | null = null;

  function read(seq: number): JournalEntry {
    const entry = JSON.parse(lines[seq] ?? 'null') as JournalEntry;
    if (parsed.size >= CACHE_SIZE)
      for (const oldest of [...parsed.keys()].slice(0, CACHE_SIZE / 2)) parsed.delete(oldest);
    parsed.set(seq, entry);
    return entry;
  }

  return {
    get count() {
      return lines.length;
    },
    get problem() {
      return problem;
    },
    add(more, onEntry, read = null) {
      for (const line of more) {
        if (problem !== null) return;
        const seq = lines.length;
        const entry = entryIn(line, seq, read);
        lines.push(read === null ? line : JSON.stringify(entry));
        if (entry !== null && isAccepted(entry, onEntry)) continue;
        lines.pop();
        problem = `Entry ${seq} cannot be read: not a journal entry. The entries before it are shown.`;
      }
    },
    entry: (seq) => parsed.get(seq) ?? read(seq),
  };
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
