import { parse } from 'jsonriver';
import type { Reply } from '../../machines/contracts/attempt.ts';
import type { TokenUsage } from '../../machines/contracts/budget.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../machines/contracts/model.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';
import { estimateTokens } from '../../machines/policies/usage.ts';
import { createJsonSpan, findJson } from './json-span.ts';

export interface StreamWatcher {
  /** Called for every chunk of text, in order. */
  readonly onText: (text: string) => void;
  /**
   * Called after every chunk that moved the value on, with the value as far as it is there. It is one object that grows:
   * a live view, to be read and not kept.
   */
  readonly onPartial: (value: unknown) => void;
  readonly maxChars: number;
  /** For the estimate where the provider gives no usage. */
  readonly promptChars: number;
}

/**
 * Reads one model stream to its end and parses the JSON value in it while it arrives [A2, A12]. Nothing is parsed twice:
 * the text goes through an incremental parser (jsonriver), the partial values are that parser's own.
 *
 * It never rejects: a broken transport, a stream that throws, no JSON, or too much text is the reply's `failure`.
 */
export async function readStream(parts: AsyncIterable<ModelPart>, watcher: StreamWatcher): Promise<Reply> {
  const source = textOf(parts, watcher);
  const span = createJsonSpan();
  let value: unknown;
  let parsed = false;
  try {
    for await (const partial of parse(source.inside(span))) {
      value = partial;
      watcher.onPartial(partial);
    }
    parsed = span.state === 'after';
  } catch {
    await source.drain();
  }
  await source.close();
  const { text, end } = source;
  const failure = brokenBy(end) ?? (parsed ? null : extractionFailure(text, span.state, end.reason));
  const rescued = failure?.code === 'no_json' ? findJson(text) : undefined;
  return {
    text,
    value: rescued ?? (failure === null ? value : null),
    failure: rescued === undefined ? failure : null,
    usage: end.usage ?? estimated(watcher.promptChars, text),
  };
}

interface End {
  readonly reason: FinishReason | null;
  readonly usage: TokenUsage | null;
  readonly failure: Failure | null;
}

/** The text of a stream, readable through the span of its JSON value, and drained when that value turned out to be none. */
function textOf(parts: AsyncIterable<ModelPart>, { onText, maxChars }: StreamWatcher) {
  const iterator = parts[Symbol.asyncIterator]();
  let text = '';
  let end: End = { reason: null, usage: null, failure: null };
  let done = false;

  /** The next part; a stream that throws breaks its contract and has ended. */
  async function nextPart(): Promise<ModelPart | null> {
    if (done) return null;
    try {
      const step = await iterator.next();
      if (!step.done) return step.value;
    } catch (error) {
      const { message } = unexpectedFailure(error);
      end = { ...end, failure: failureOf('unexpected', 'model_threw', message, { retryable: false }) };
    }
    done = true;
    return null;
  }

  async function next(): Promise<string | null> {
    const part = await nextPart();
    if (part === null) return null;
    switch (part.type) {
      case 'text-delta':
        text += part.text;
        onText(part.text);
        if (text.length > maxChars) {
          done = true;
          end = { ...end, failure: tooLong(maxChars) };
        }
        return part.text;
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
    async *inside(span: ReturnType<typeof createJsonSpan>): AsyncGenerator<string> {
      for (let chunk = await next(); chunk !== null; chunk = await next()) {
        const json = span.push(chunk);
        if (json !== '') yield json;
      }
    },
    async drain() {
      while ((await next()) !== null);
    },
    async close() {
      await iterator.return?.();
    },
  };
}

function brokenBy({ failure, reason }: End): Failure | null {
  if (failure !== null) return failure;
  if (reason !== 'content-filter') return null;
  return failureOf('refinement', 'filtered', 'The reply was stopped by the provider’s content filter.', {
    retryable: false,
  });
}

function extractionFailure(text: string, state: 'before' | 'inside' | 'after', reason: FinishReason | null): Failure {
  if (reason === 'length')
    return failureOf('extraction', 'truncated', 'The reply was cut off at the output limit before its JSON ended.');
  if (text.trim() === '') return failureOf('extraction', 'empty_reply', 'The reply is empty; wanted one JSON object.');
  if (state === 'inside')
    return failureOf('extraction', 'no_json', 'The JSON in the reply does not end; wanted one whole JSON object.');
  return failureOf('extraction', 'no_json', 'The reply holds no valid JSON; wanted one JSON object.');
}

function tooLong(maxChars: number): Failure {
  return failureOf('extraction', 'too_long', `The reply is longer than ${maxChars} characters; wanted a shorter one.`);
}

function estimated(promptChars: number, text: string): TokenUsage {
  return { inputTokens: Math.ceil(promptChars / 4), outputTokens: estimateTokens(text), estimated: true };
}
