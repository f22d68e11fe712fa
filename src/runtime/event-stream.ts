import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { PartialUpdate } from './watcher.ts';

/** What a run tells as it goes: the entries of its journal, and between them the partial values of the reply under way. */
export type RunEvent = JournalEntry | PartialUpdate;

export interface EventStream extends AsyncIterable<RunEvent> {
  push(event: RunEvent): void;
  end(): void;
}

/**
 * A stream that many can read, each from the beginning: the journal is the buffer. Partial values are for those who are there;
 * a reader that falls behind gets the newest only, for it is the same growing object.
 */
export function createEventStream(history: readonly JournalEntry[]): EventStream {
  const readers = new Set<Reader>();
  let ended = false;
  return {
    push(event) {
      for (const reader of readers) reader.push(event);
    },
    end() {
      ended = true;
      for (const reader of readers) reader.wake();
      readers.clear();
    },
    async *[Symbol.asyncIterator]() {
      const reader = createReader(history);
      if (!ended) readers.add(reader);
      try {
        for (;;) {
          const event = reader.shift();
          if (event !== undefined) yield event;
          else if (ended) return;
          else await reader.arrival();
        }
      } finally {
        readers.delete(reader);
      }
    },
  };
}

type Reader = ReturnType<typeof createReader>;

/** One reader's place in the history, and the partial value that it has not seen yet. */
function createReader(history: readonly JournalEntry[]) {
  let position = 0;
  let partial: { readonly update: PartialUpdate; readonly before: number } | null = null;
  let wake: () => void = () => {};
  return {
    push(event: RunEvent): void {
      if (event.type === 'partial') partial = { update: event, before: history.length };
      wake();
    },
    shift(): RunEvent | undefined {
      if (partial !== null && position >= partial.before) {
        const { update } = partial;
        partial = null;
        return update;
      }
      const entry = history[position];
      if (entry !== undefined) position += 1;
      return entry;
    },
    arrival(): Promise<void> {
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    wake: () => wake(),
  };
}
