import type { Annotation, JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import type { Replies } from '../../../machines/contracts/phase-io.ts';
import type { DeepPartial } from '../../llm/attempts/updates.ts';

/**
 * The value of an attempt in progress, typed by its task. It is void if the attempt fails; see the `attempt-end` that follows.
 * With a custom prompt, the type is that of the prompt's schema.
 */
export type PartialUpdate = {
  readonly [T in Task]: {
    readonly type: 'partial';
    readonly attemptId: string;
    readonly task: T;
    readonly attempt: number;
    readonly value: DeepPartial<Replies[T]>;
  };
}[Task];

/** What a run emits: its journal entries, and between them the partial values of the reply in progress. */
export type RunEvent = JournalEntry | PartialUpdate;

/** Receives what the calls of a bare machine report besides their results: texts, searches and partial values. */
export interface RunObserver {
  readonly record: (event: Annotation) => void;
  readonly partial: (update: PartialUpdate) => void;
}

export interface EventStream extends AsyncIterable<RunEvent> {
  push(event: RunEvent): void;
  hasReaders(): boolean;
  end(): void;
}

/**
 * Returns a stream that any number of readers can read, each from the beginning: the journal is the buffer. Partial values reach
 * current readers only. A slow reader gets the newest one per attempt, since it is the same growing object, and gets it before that
 * attempt's end.
 */
export function createEventStream(history: readonly JournalEntry[]): EventStream {
  const readers = new Set<Reader>();
  let ended = false;
  return {
    push(event) {
      for (const reader of readers) reader.push(event);
    },
    hasReaders: () => readers.size > 0,
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

/** One reader's position in the history, and its unread partial values, each placed before the history's entry `before`. */
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
