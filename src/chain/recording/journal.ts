import type { JournalEntry, JournalEvent } from '../../../machines/contracts/journal.ts';

/**
 * The journal of a run in memory, append-only. Everything that shows, stores or checks a run is derived from it. Listeners receive every
 * entry once, in order, and must not throw.
 */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** Returns the milliseconds since the start of the run. */
  nowMs(): number;
  append(event: JournalEvent): void;
  /** Appends text of a reply in progress. Small pieces are joined: they precede the next entry. */
  appendText(attemptId: string, text: string): void;
  /** Ends the journal: later events are not recorded. */
  close(): void;
  listen(listener: (entry: JournalEntry) => void): void;
}

/** A piece of text is recorded at the latest with the first text that arrives this long after its start, or when it is this long. */
const MAX_PIECE_MS = 500;
const MAX_PIECE_CHARS = 1_024;

/** `atMs` returns the milliseconds since the start of the run at the time that entry number `seq` is written. */
export function createJournal(atMs: (seq: number) => number): Journal {
  const entries: JournalEntry[] = [];
  let closed = false;
  /** The text of each reply in progress that is not recorded yet: several may arrive at the same time. */
  const pieces = new Map<string, string>();
  let recordedTextAtMs = Number.NEGATIVE_INFINITY;
  const listeners: ((entry: JournalEntry) => void)[] = [];

  function add(event: JournalEvent): void {
    const entry = { seq: entries.length, atMs: atMs(entries.length), ...event };
    entries.push(entry);
    for (const listener of listeners) listener(entry);
  }

  function addPieces(): void {
    const recorded = [...pieces];
    pieces.clear();
    for (const [attemptId, text] of recorded) add({ type: 'text-delta', attemptId, text });
  }

  return {
    entries,
    nowMs: () => atMs(entries.length),
    append(event) {
      if (closed) return;
      if (pieces.size > 0) addPieces();
      add(event);
    },
    appendText(attemptId, text) {
      if (closed) return;
      const piece = `${pieces.get(attemptId) ?? ''}${text}`;
      pieces.set(attemptId, piece);
      const nowMs = atMs(entries.length);
      if (piece.length < MAX_PIECE_CHARS && nowMs - recordedTextAtMs < MAX_PIECE_MS) return;
      recordedTextAtMs = nowMs;
      addPieces();
    },
    close: () => {
      closed = true;
    },
    listen: (listener) => void listeners.push(listener),
  };
}
