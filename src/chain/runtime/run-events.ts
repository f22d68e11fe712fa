import type { Annotation, JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Phase, Task } from '../../../machines/contracts/phase.ts';
import type { Replies } from '../../../machines/contracts/phase-io.ts';
import type { DeepPartial } from '../../llm/attempts/updates.ts';

/**
 * The value of an attempt in progress, typed by its task. It is void if the attempt fails; see the `attempt-end` that follows.
 * With a custom prompt, the type is that of the prompt's schema.
 */
export type PartialUpdate =
  | {
      readonly [T in Task]: PartialOf & {
        readonly task: T;
        readonly phases?: undefined;
        readonly value: DeepPartial<Replies[T]>;
      };
    }[Task]
  | (PartialOf & {
      readonly task: Exclude<Phase, 'action'>;
      /** The phases that a brief reply is for. */
      readonly phases: readonly Phase[];
      readonly value: DeepPartial<Replies['brief']>;
    });

interface PartialOf {
  readonly type: 'partial';
  readonly attemptId: string;
  readonly attempt: number;
}

/**
 * The next piece of the answer, while a model writes it. It is provisional until the entry `answer`: the texts since the last `answer-void`
 * add up to the answer so far, and at the end to `answerText`. `attemptId` is null for text that was not streamed from a model.
 */
export interface AnswerDelta {
  readonly type: 'answer-delta';
  readonly attemptId: string | null;
  readonly text: string;
}

/**
 * The texts since the last `answer-void` are not the answer: the attempt that wrote them failed, Yield decided on another cycle, or another
 * text replaces them.
 */
export interface AnswerVoid {
  readonly type: 'answer-void';
  readonly attemptId: string;
  readonly reason: 'attempt_failed' | 'next_cycle' | 'rewritten';
}

/** What a run emits: its journal entries, and events that are not journaled: partial values and pieces of the answer. */
export type RunEvent = JournalEntry | PartialUpdate | AnswerDelta | AnswerVoid;

/** Receives what the calls of a bare machine report besides their results: texts, searches and partial values. */
export interface RunObserver {
  readonly record: (event: Annotation) => void;
  readonly partial: (update: PartialUpdate) => void;
}

export interface EventStream extends AsyncIterable<RunEvent> {
  push(update: PartialUpdate): void;
  /** Wakes the readers when the history has grown. */
  wake(): void;
  hasReaders(): boolean;
  /** Ends the stream, and completes the text of the answer if `answerText` is given. */
  end(answerText?: string): void;
}

/**
 * Returns a stream that any number of readers can read, each from the beginning: the journal is the buffer. Partial values reach
 * current readers only. A slow reader gets the newest one per attempt, since it is the same growing object, and gets it before that
 * attempt's end. The text of the answer is computed for each reader, so that each gets all of it.
 */
export function createEventStream(history: History): EventStream {
  const readers = new Set<Reader>();
  let ended: { readonly answerText: string | undefined } | null = null;
  return {
    push(update) {
      for (const reader of readers) reader.push(update);
    },
    wake() {
      for (const reader of readers) reader.wake();
    },
    hasReaders: () => readers.size > 0,
    end(answerText) {
      ended = { answerText };
      for (const reader of readers) reader.wake();
      readers.clear();
    },
    async *[Symbol.asyncIterator]() {
      const reader = createReader(history);
      const answer = new AnswerText();
      if (ended === null) readers.add(reader);
      try {
        for (;;) {
          const event = reader.shift();
          if (event !== undefined) {
            yield* answer.changes(event);
            yield event;
          } else if (ended === null) await reader.arrival();
          else {
            // The journal of a run that another process has taken over has no answer.
            if (ended.answerText !== undefined) yield* answer.finish(ended.answerText);
            return;
          }
        }
      } finally {
        readers.delete(reader);
      }
    },
  };
}

/** The entries so far. */
type History = Pick<readonly JournalEntry[], 'at' | 'length'>;

type Reader = ReturnType<typeof createReader>;

/** One reader's position in the history, and its unread partial values, each placed before the history's entry `before`. */
function createReader(history: History) {
  let position = 0;
  let wake: () => void = () => {};
  const partials: { readonly update: PartialUpdate; readonly before: number }[] = [];
  return {
    push(update: PartialUpdate): void {
      const last = partials.at(-1)?.update;
      if (last?.attemptId === update.attemptId && last.attempt === update.attempt) partials.pop();
      partials.push({ update, before: history.length });
      wake();
    },
    shift(): JournalEntry | PartialUpdate | undefined {
      const [partial] = partials;
      if (partial !== undefined && position >= partial.before) return partials.shift()?.update;
      const entry = history.at(position);
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

/**
 * Reading a growing string costs time proportional to its length. So a long text is read only when it has grown by this share, which makes
 * the total cost linear, and once more at the end of its attempt.
 */
const LEAST_GROWTH = 1 / 256;

/** The text of the answer that one reader has received, computed from the other events. */
export class AnswerText {
  /** The source of the text; null if there is none, or if the text was not streamed from a model. */
  #source: PartialUpdate | null = null;
  #text = '';
  /** The length of the source's text when it was last read. */
  #readChars = 0;

  /** Returns the events that precede an event. */
  *changes(event: JournalEntry | PartialUpdate): Generator<AnswerDelta | AnswerVoid, void> {
    if (event.type === 'partial') yield* this.follow(event);
    else if (event.type === 'decision' && !event.decision.complete) yield* this.discard('next_cycle');
    // A call that was interrupted with its process starts again.
    else if (event.type === 'resumed' && !event.wasPaused) yield* this.discard('attempt_failed');
    else if (event.type === 'phase-end' && event.failure !== null && this.#source?.task === event.phase)
      yield* this.discard('attempt_failed');
    else if (event.type === 'attempt-end' && this.#source !== null && isSameAttempt(this.#source, event))
      yield* event.failure === null ? this.follow(this.#source, true) : this.discard('attempt_failed');
    else if (event.type === 'answer') yield* this.finish(event.answer.answerText);
  }

  *finish(answerText: string): Generator<AnswerDelta | AnswerVoid, void> {
    if (!answerText.startsWith(this.#text)) yield* this.discard('rewritten');
    yield* this.#continueTo(answerText);
  }

  /** Continues with the text in a partial reply. `isLast`: its attempt has ended. */
  *follow(update: PartialUpdate, isLast = false): Generator<AnswerDelta | AnswerVoid, void> {
    const written = answerIn(update);
    const isSame = this.#source !== null && isSameAttempt(this.#source, update);
    if (typeof written !== 'string' || (written === '' && !isSame)) return;
    const leastGrowth = isLast ? 0 : this.#readChars * LEAST_GROWTH;
    if (isSame && Math.abs(written.length - this.#readChars) < leastGrowth) return;
    const text = stablePart(update.task === 'synthesis' ? written.trim() : written);
    if (!text.startsWith(this.#text)) yield* this.discard('rewritten');
    this.#source = update;
    this.#readChars = written.length;
    yield* this.#continueTo(text);
  }

  *#continueTo(text: string): Generator<AnswerDelta, void> {
    const delta = text.slice(this.#text.length);
    this.#text = text;
    if (delta !== '') yield { type: 'answer-delta', attemptId: this.#source?.attemptId ?? null, text: delta };
  }

  *discard(reason: AnswerVoid['reason']): Generator<AnswerVoid, void> {
    const source = this.#source;
    const isEmpty = this.#text === '';
    this.#source = null;
    this.#text = '';
    if (source !== null && !isEmpty) yield { type: 'answer-void', attemptId: source.attemptId, reason };
  }
}

const isSameAttempt = (
  one: Pick<PartialUpdate, 'attemptId' | 'attempt'>,
  other: Pick<PartialUpdate, 'attemptId' | 'attempt'>,
): boolean => one.attemptId === other.attemptId && one.attempt === other.attempt;

/** Returns the text of the answer in a partial reply: of the call that writes it, or of one for Yield, alone or with other phases. */
function answerIn({ task, phases = [], value }: PartialUpdate): unknown {
  const { answerText, answer } = Object(value);
  if (task === 'synthesis') return answerText;
  return task === 'yield' || phases.includes('yield') ? answer : undefined;
}

/** Returns a text without the first half of a surrogate pair at its end, which would be damaged if it were sent alone. */
function stablePart(text: string): string {
  const last = text.at(-1) ?? '';
  return last >= '\ud800' && last <= '\udbff' ? text.slice(0, -1) : text;
}
