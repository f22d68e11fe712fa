import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { PartialUpdate } from './run-observer.ts';

/** What a run tells as it goes: the entries of its journal, and between them the partial values of the reply under way. */
export type RunEvent = JournalEntry | PartialUpdate;

export interface EventStream extends AsyncIterable<RunEvent> {
  push(event: RunEvent): void;
  end(): void;
}

/**
 * A stream that many can read, each from the beginning: the journal is the buffer. Partial values are for those who are there; a
 * reader that falls behind gets one an attempt, the newest, for it is the same growing object, and before that attempt's end.
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

/** One reader's place in the history, and the partial values not seen yet: each stands before the history's entry `before`. */
function createReader(history: readonly JournalEntry[]) {
  let position = 0;
  let wake: () => void = () => {};
  const partials: { readonly update: PartialUpdate; readonly before: number }[] = [];
  return {
    push(event: RunEvent): void {
      if (event.type === 'partial') {
        const last = partials.at(-1)?.update;
        if (last?.attemptId === event.attemptId && last.attempt === event.attempt) partials.pop();
        partials.push({ update: event, before: history.length });
      }
      wake();
    },
    shift(): RunEvent | undefined {
      const [partial] = partials;
      if (partial !== undefined && position >= partial.before) return partials.shift()?.update;
      const entry = history[position];
      if (entry !== undefined) position += 1;
      return entry;
    },
    arrival: (): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    wake: () => wake(),
  };
}
