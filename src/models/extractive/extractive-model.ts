import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { TASKS, taskSchema } from '../../../machines/contracts/phase.ts';
import { extractiveReply } from './extractive-reply.ts';

const CHARS_PER_TOKEN = 4;

/**
 * A model that is no language model: it fills the reply of each of the chain's tasks by ranking and choosing sentences of what was
 * retrieved. Needs no key, no account and no network, says the same every time, and says in its notes what it is.
 *
 * Reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of
 * `chunkChars` characters (40 by default), as text or as the arguments of a tool call. A request that fits no task ends in a
 * `failure` part, as the port asks.
 */
export function extractiveModel({ chunkChars = 40 }: { readonly chunkChars?: number } = {}): ChatModel {
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
    yield delta(request, text.slice(from, end));
    from = end;
  }
  if (signal.aborted) return;
  const inputChars = request.turns.reduce((sum, { content }) => sum + content.length, 0);
  const usage = {
    inputTokens: Math.ceil(inputChars / CHARS_PER_TOKEN),
    outputTokens: Math.ceil(text.length / CHARS_PER_TOKEN),
    estimated: true,
  };
  yield { type: 'finish', reason: request.replyForm === 'tool-call' ? 'tool-calls' : 'stop', usage };
}

function delta({ replyForm, schemaName: name }: ModelRequest, text: string): ModelPart {
  return replyForm === 'tool-call'
    ? { type: 'tool-call-delta', index: 0, name, arguments: text }
    : { type: 'text-delta', text };
}

/** Scores are told to four decimals: more would be noise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value;
}

/** The reply as JSON text, or why there is none. */
function replyText({ task, input }: ModelRequest): string | Failure {
  const known = taskSchema.safeParse(task);
  if (!known.success) {
    const only = `the offline model only does the chain's tasks (${TASKS.join(', ')}); give a language model`;
    return failure('task_unknown', `got the task ${JSON.stringify(task)}; ${only}, say openaiModel`);
  }
  try {
    return JSON.stringify(extractiveReply(known.data, input), rounded);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return failure('offline_model_failed', `The offline model could not answer: ${message}`);
  }
}

function failure(code: string, text: string): Failure {
  const message = text.replace(/\s+/g, ' ');
  return { stage: 'unexpected', code, message, retryable: false, retryAfterMs: null, status: null, issues: [] };
}
