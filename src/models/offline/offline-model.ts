import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { offlineReply } from './offline-reply.ts';

const CHARS_PER_TOKEN = 4;

/**
 * A model that is no language model: it fills every task's reply by ranking and choosing sentences of what was retrieved.
 * Needs no key, no account and no network, says the same every time, and says in its notes what it is.
 *
 * Reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of
 * `chunkChars` characters (40 by default). A request that fits no task ends in a `failure` part, as the port asks.
 */
export function offlineModel({ chunkChars = 40 }: { readonly chunkChars?: number } = {}): ChatModel {
  if (!Number.isInteger(chunkChars) || chunkChars < 1) {
    const message = `Got chunkChars ${chunkChars}. Wanted is a whole number from 1 on; leave it out for 40.`;
    throw new PostChainError('invalid_option', message);
  }
  return {
    id: 'offline-extractive',
    contextWindowTokens: 32_000,
    stream: (request, { signal }) => parts(request, chunkChars, signal),
  };
}

async function* parts(request: ModelRequest, chunkChars: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) return;
  const text = replyText(request);
  if (typeof text !== 'string') {
    yield { type: 'failure', failure: text };
    return;
  }
  for (let from = 0; from < text.length; ) {
    if (signal.aborted) return;
    const to = from + chunkChars;
    const end = /[\uD800-\uDBFF]/.test(text.charAt(to - 1)) ? to + 1 : to;
    yield { type: 'text-delta', text: text.slice(from, end) };
    from = end;
  }
  if (signal.aborted) return;
  const inputChars = request.turns.reduce((sum, { content }) => sum + content.length, 0);
  const usage = {
    inputTokens: Math.ceil(inputChars / CHARS_PER_TOKEN),
    outputTokens: Math.ceil(text.length / CHARS_PER_TOKEN),
    estimated: true,
  };
  yield { type: 'finish', reason: 'stop', usage };
}

/** Scores are told to four decimals: more would be noise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value;
}

/** The reply as JSON text, or why there is none. */
function replyText(request: ModelRequest): string | Failure {
  try {
    return JSON.stringify(offlineReply(request.task, request.input), rounded);
  } catch (cause) {
    const message = `The offline model could not answer: ${cause instanceof Error ? cause.message : String(cause)}`;
    return {
      stage: 'unexpected',
      code: 'offline_model_failed',
      message: message.replace(/\s+/g, ' '),
      retryable: false,
      retryAfterMs: null,
      status: null,
      issues: [],
    };
  }
}
