import type { TokenUsage } from '../../machines/contracts/budget.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../machines/contracts/model.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';

/** How a stream ended; all null while it has not. */
export interface StreamEnd {
  readonly reason: FinishReason | null;
  readonly usage: TokenUsage | null;
  readonly failure: Failure | null;
}

/** The text of a model's stream, chunk by chunk, and how it ended. It never throws: a stream that does has failed. */
export interface TextSource {
  readonly text: string;
  readonly end: StreamEnd;
  /** The next chunk; null at the end. */
  next(): Promise<string | null>;
  /** Lets go of the stream, wherever it is. */
  close(): Promise<void>;
}

export function textSource(
  open: () => AsyncIterable<ModelPart>,
  maxChars: number,
  onText: (text: string) => void,
): TextSource {
  let iterator: AsyncIterator<ModelPart> | null = null;
  let text = '';
  let end: StreamEnd = { reason: null, usage: null, failure: null };
  let done = false;

  const fail = (failure: Failure): void => {
    end = { ...end, failure };
    done = true;
  };

  function takeText(chunk: string): string {
    const room = maxChars - text.length;
    const taken = chunk.slice(0, room);
    text += taken;
    if (taken !== '') onText(taken);
    if (chunk.length > room)
      fail(
        failureOf('extraction', 'too_long', `The reply is longer than ${maxChars} characters; wanted a shorter one.`),
      );
    return taken;
  }

  function take(part: ModelPart): string {
    switch (part.type) {
      case 'text-delta':
        return takeText(part.text);
      case 'finish':
        end = { ...end, reason: part.reason, usage: part.usage };
        return '';
      case 'failure':
        end = { ...end, failure: part.failure };
        return '';
      default: {
        const never: never = part;
        return never;
      }
    }
  }

  return {
    get text() {
      return text;
    },
    get end() {
      return end;
    },
    async next() {
      if (done) return null;
      try {
        iterator ??= open()[Symbol.asyncIterator]();
        const step = await iterator.next();
        if (!step.done) return take(step.value);
        done = true;
      } catch (error) {
        fail(failureOf('unexpected', 'model_threw', unexpectedFailure(error).message, { retryable: false }));
      }
      return null;
    },
    async close() {
      try {
        await iterator?.return?.();
      } catch {
        // It was to end, and it has.
      }
    },
  };
}
