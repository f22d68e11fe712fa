import type { JournalEntry } from '../../machines/contracts/journal.ts';

/**
 * The entries of one run, append-only. They are kept as text, which takes a third of the memory, and parsed on demand;
 * the latest parsed ones are cached.
 */
export interface RunLog {
  readonly count: number;
  /** Why the entries end early: one is invalid. Nothing is added after it. */
  readonly problem: string | null;
  /** Gives each new entry, as it is read, to the listener. */
  add(lines: readonly string[], hear: (entry: JournalEntry) => void): void;
  /** `seq` must be below `count`. */
  entry(seq: number): JournalEntry;
  line(seq: number): string;
}

const AT_HAND = 256;

export function createRunLog(): RunLog {
  const lines: string[] = [];
  const atHand = new Map<number, JournalEntry>();
  let problem: string | null = null;

  function read(seq: number): JournalEntry {
    const entry = JSON.parse(lines[seq] ?? 'null') as JournalEntry;
    if (atHand.size >= AT_HAND) for (const oldest of [...atHand.keys()].slice(0, AT_HAND / 2)) atHand.delete(oldest);
    atHand.set(seq, entry);
    return entry;
  }

  return {
    get count() {
      return lines.length;
    },
    get problem() {
      return problem;
    },
    add(more, hear) {
      for (const line of more) {
        if (problem !== null) return;
        const seq = lines.length;
        const entry = entryIn(line, seq);
        lines.push(line);
        if (entry !== null && isHeard(entry, hear)) continue;
        lines.pop();
        problem = `Entry ${seq} cannot be read: not a journal entry. The entries before it are shown.`;
      }
    },
    entry: (seq) => atHand.get(seq) ?? read(seq),
    line: (seq) => lines[seq] ?? '',
  };
}

/** An entry without the members of its type is invalid, too. */
function isHeard(entry: JournalEntry, hear: (entry: JournalEntry) => void): boolean {
  try {
    hear(entry);
    return true;
  } catch {
    return false;
  }
}

/** Servers validate entries, but a file can contain anything. Null if no fold could read it. */
function entryIn(line: string, due: number): JournalEntry | null {
  try {
    const entry = JSON.parse(line) as Partial<JournalEntry> | null;
    const { seq, atMs, type } = entry ?? {};
    return seq === due && Number.isFinite(atMs) && typeof type === 'string' ? (entry as JournalEntry) : null;
  } catch {
    return null;
  }
}
