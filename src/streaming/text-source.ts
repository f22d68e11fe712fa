import { type TokenUsage, tokenUsageSchema } from '../../machines/contracts/budget.ts';
import { type Failure, failureSchema } from '../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../machines/contracts/model.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';
import { nextTurn } from './next-turn.ts';

/** How a stream ended; all null while it has not. */
export interface StreamEnd {
  readonly reason: FinishReason | null;
  readonly usage: TokenUsage | null;
  readonly failure: Failure | null;
}

/**
 * The text of a model's stream, chunk by chunk, and how it ended.
 *
 * 1. It never throws: a stream that does, or gives a part that is none, has failed. 2. It ends at the first `finish` or `failure`,
 * at too much text, and at an abort, whether the stream listens to that or not. 3. However fast parts come, the event loop gets
 * its turn, so that deadlines and cancels do.
 */
export interface TextSource {
  readonly text: string;
  readonly end: StreamEnd;
  /** The next chunk; null at the end. */
  next(): Promise<string | null>;
  /** Lets go of the stream, wherever it is, and does not wait for it. */
  close(): void;
}

export interface TextSourceOptions {
  readonly maxChars: number;
  /** Told where to stop the reading from outside: an abort. Cheaper for each call than a listener on a signal. */
  readonly onStoppable: (stop: () => void) => void;
  readonly onText: (text: string) => void;
}

const PARTS_A_TURN = 500;

export function textSource(open: () => AsyncIterable<ModelPart>, options: TextSourceOptions): TextSource {
  const { maxChars, onText, onStoppable } = options;
  let iterator: AsyncIterator<ModelPart> | null = null;
  let text = '';
  let end: StreamEnd = { reason: null, usage: null, failure: null };
  let over = false;
  let parts = 0;
  let release: () => void = () => {};

  onStoppable(() => {
    over = true;
    release();
  });

  const fail = (failure: Failure): void => {
    end = { ...end, failure };
    over = true;
  };

  /** The next chunk, or null as soon as it is stopped: a stream that ignores its signal is left behind. */
  function pull(): Promise<string | null> {
    return new Promise((resolve) => {
      release = () => resolve(null);
      const broken = (error: unknown): void => {
        fail(brokenContract(unexpectedFailure(error).message));
        resolve(null);
      };
      try {
        iterator ??= open()[Symbol.asyncIterator]();
        iterator
          .next()
          .then((step) => resolve(over ? null : taken(step)), broken)
          .then(undefined, broken);
      } catch (error) {
        broken(error);
      }
    });
  }

  function taken(step: IteratorResult<ModelPart>): string | null {
    if (!step.done) return take(step.value);
    over = true;
    return null;
  }

  function takeText(chunk: string): string {
    const room = maxChars - text.length;
    const kept = chunk.length <= room ? chunk : chunk.slice(0, room);
    text += kept;
    if (kept !== '') onText(kept);
    if (chunk.length > room)
      fail(
        failureOf('extraction', 'too_long', `The reply is longer than ${maxChars} characters; wanted a shorter one.`),
      );
    return kept;
  }

  /** What a part gives. Adapters are the user's code too: what is no part ends the stream as a failure. */
  function take(part: ModelPart): string {
    if (part?.type === 'text-delta' && typeof part.text === 'string') return takeText(part.text);
    if (part?.type === 'finish') {
      const usage = tokenUsageSchema.safeParse(part.usage);
      end = { reason: part.reason, usage: usage.success ? usage.data : null, failure: null };
      over = true;
    } else if (part?.type === 'failure') {
      const read = failureSchema.safeParse(part.failure);
      fail(read.success ? read.data : brokenContract('its failure part holds no failure'));
    } else fail(brokenContract('it gave something that is no part'));
    return '';
  }

  return {
    get text() {
      return text;
    },
    get end() {
      return end;
    },
    next() {
      if (over) return Promise.resolve(null);
      parts += 1;
      return parts % PARTS_A_TURN === 0 ? nextTurn().then(() => (over ? null : pull())) : pull();
    },
    close() {
      over = true;
      try {
        iterator?.return?.()?.then(undefined, () => {});
      } catch {
        // It was to end, and it has.
      }
    },
  };
}

function brokenContract(message: string): Failure {
  return failureOf('unexpected', 'model_threw', message, { retryable: false });
}
