import { parse } from 'jsonriver';
import type { Reply } from '../../machines/contracts/attempt.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { ModelPart } from '../../machines/contracts/model.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { estimateTokens } from '../../machines/policies/usage.ts';
import { createJsonSpan, type JsonSpan } from './json-span.ts';
import { type StreamEnd, type TextSource, textSource } from './text-source.ts';

export interface StreamWatcher {
  /** Called for every chunk of text, in order. */
  readonly onText: (text: string) => void;
  /**
   * Called after every chunk that moved the value on, with the value as far as it is there. It is one object that grows:
   * a live view, to be read and not kept.
   */
  readonly onPartial: (value: unknown) => void;
  readonly maxChars: number;
  /** Given a function that stops the reading at once, whether the stream listens to its signal or not. */
  readonly onStoppable: (stop: () => void) => void;
  /** For the estimate where the provider gives no usage. */
  readonly promptChars: number;
}

/**
 * Reads one model stream to its end and parses the JSON object in it while it arrives [A2, A12]. Nothing is parsed twice:
 * the text goes through an incremental parser (jsonriver), and the partial values are that parser's own. Where what looked like
 * the object is none, the next one in the text is tried; nothing within a broken one is taken for the whole.
 *
 * It never rejects: a broken transport, a stream that throws, no JSON, or too much text is the reply's `failure`.
 */
export async function readStream(open: () => AsyncIterable<ModelPart>, watcher: StreamWatcher): Promise<Reply> {
  const source = textSource(open, watcher);
  const found = await findObject(source, watcher.onPartial);
  source.close();
  const { text, end } = source;
  const failure = brokenBy(end) ?? (found.whole ? null : extractionFailure(text, found.state, end));
  return {
    text,
    value: failure === null ? found.value : null,
    failure,
    usage: end.usage ?? {
      inputTokens: Math.ceil(watcher.promptChars / 4),
      outputTokens: estimateTokens(text),
      estimated: true,
    },
  };
}

interface Found {
  readonly whole: boolean;
  readonly value: unknown;
  readonly state: JsonSpan['state'];
}

/** So many things that look like the object and are none, and the rest is not looked at. */
const MAX_OBJECTS = 200;

/** The first whole object in the text, however many that turn out to be none come before it; then the rest is read. */
async function findObject(source: TextSource, onPartial: (value: unknown) => void): Promise<Found> {
  const pending = { rest: '' };
  let sawEmptyObject = false;
  for (let tried = 0; tried < MAX_OBJECTS; tried += 1) {
    const span = createJsonSpan();
    let value: unknown;
    try {
      for await (const partial of parse(chunksOf(span, source, pending))) {
        value = partial;
        onPartial(partial);
      }
      if (span.state === 'after') {
        while ((await source.next()) !== null);
        return { whole: true, value, state: 'after' };
      }
    } catch {
      await skip(span, source, pending);
    }
    sawEmptyObject ||= span.sawEmptyObject;
    if (span.state === 'after') continue;
    return sawEmptyObject && span.state === 'before'
      ? { whole: true, value: {}, state: 'after' }
      : { whole: false, value: null, state: span.state };
  }
  while ((await source.next()) !== null);
  return { whole: false, value: null, state: 'after' };
}

/**
 * The chunks of one object, up to its end; what stands behind it is left for the next. A hand-made iterator: the turns that an async
 * generator takes for each chunk would cost more than the parsing.
 */
function chunksOf(span: JsonSpan, source: TextSource, pending: { rest: string }): AsyncIterableIterator<string> {
  const end: IteratorResult<string> = { done: true, value: undefined };

  /** Goes on until there is something of the object: through the prose before it, say. */
  async function search(): Promise<IteratorResult<string>> {
    while (span.state !== 'after') {
      const chunk = pending.rest === '' ? await source.next() : pending.rest;
      pending.rest = '';
      if (chunk === null) return end;
      const found = taken(chunk);
      if (found !== null) return found;
    }
    return end;
  }

  function taken(chunk: string): IteratorResult<string> | null {
    const { json, rest } = span.push(chunk);
    pending.rest = rest;
    return json === '' ? null : { done: false, value: json };
  }

  return {
    next: () =>
      span.state === 'inside'
        ? source.next().then((chunk) => (chunk === null ? end : (taken(chunk) ?? search())))
        : search(),
    return: () => Promise.resolve(end),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Goes on to the end of an object that turned out to be none. */
async function skip(span: JsonSpan, source: TextSource, pending: { rest: string }): Promise<void> {
  const chunks = chunksOf(span, source, pending);
  for (;;) {
    try {
      if ((await chunks.next()).done) return;
    } catch {
      return;
    }
  }
}

function brokenBy({ failure, reason }: StreamEnd): Failure | null {
  if (failure !== null) return failure;
  if (reason !== 'content-filter') return null;
  return failureOf('refinement', 'filtered', 'The reply was stopped by the provider’s content filter.', {
    retryable: false,
  });
}

function extractionFailure(text: string, state: JsonSpan['state'], { reason }: StreamEnd): Failure {
  if (reason === 'length')
    return failureOf('extraction', 'truncated', 'The reply was cut off at the output limit before its JSON ended.');
  if (text.trim() === '') return failureOf('extraction', 'empty_reply', 'The reply is empty; wanted one JSON object.');
  if (state === 'inside')
    return failureOf('extraction', 'no_json', 'The JSON in the reply does not end; wanted one whole JSON object.');
  return failureOf('extraction', 'no_json', 'The reply holds no valid JSON; wanted one JSON object.');
}
