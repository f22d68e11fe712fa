import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { TASKS } from '../../../machines/contracts/phase.ts';
import { estimatedUsage } from '../../../machines/policies/usage.ts';
import { inTurns } from '../../internal/async.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { ExtractedTask } from './replies.ts';

/**
 * Returns the built-in extractive model (no LLM). It fills the reply to each of the chain's tasks by quoting paragraphs, lists and table
 * rows of the retrieved text. It needs no key, account or network, is deterministic, and states in its notes how an answer was made. It
 * reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of `chunkChars` (default
 * 40) characters, as text or as the arguments of a tool call. A request for another task ends in a `failure` part.
 *
 * @throws PostChainError `invalid_option`
 */
export function extractiveModel(options: { readonly chunkChars?: number } = {}): ChatModel {
  requireKnownOptions('extractiveModel', options, 'chunkChars');
  const { chunkChars = 40 } = options;
  if (!Number.isInteger(chunkChars) || chunkChars < 1)
    throw new PostChainError('invalid_option', `"chunkChars" must be an integer ≥ 1; received ${chunkChars}`);
  return {
    id: EXTRACTED_ID,
    contextWindowTokens: 32_000,
    stream: (request, { signal }) => parts(request, chunkChars, signal),
  };
}

const EXTRACTED_ID = 'offline-extractive';

/** Whether a model only quotes, and so cannot state a value of an arbitrary schema. */
export const isExtractive = ({ id }: Pick<ChatModel, 'id'>): boolean => id === EXTRACTED_ID;

const EXTRACTED = TASKS.filter((task) => task !== 'value');
const isExtracted = (task: string): task is ExtractedTask => (EXTRACTED as readonly string[]).includes(task);

async function* parts(request: ModelRequest, chunkChars: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) return;
  const reply = await replyText(request, signal);
  if (typeof reply !== 'string' && !signal.aborted) yield { type: 'failure', failure: reply };
  if (typeof reply !== 'string') return;
  const { replyForm, schemaName: name, turns } = request;
  const inCall = replyForm === 'tool-call';
  for (const text of reply.match(new RegExp(`[^]{1,${chunkChars}}`, 'gu')) ?? []) {
    if (signal.aborted) return;
    yield inCall ? { type: 'tool-call-delta', index: 0, name, arguments: text } : { type: 'text-delta', text };
  }
  if (signal.aborted) return;
  const usage = estimatedUsage(
    turns.reduce((sum, { content }) => sum + content.length, 0),
    reply.length,
  );
  yield { type: 'finish', reason: inCall ? 'tool-calls' : 'stop', usage };
}

async function replyText({ task, phases, input }: ModelRequest, signal: AbortSignal): Promise<string | Failure> {
  const failure = (code: string, text: string): Failure => {
    const message = text.replace(/\s+/g, ' ');
    return { stage: 'unexpected', code, message, retryable: false, retryAfterMs: null, status: null, issues: [] };
  };
  if (!isExtracted(task)) {
    const expected = `the extractive model supports ${EXTRACTED.join(', ')}; use an LLM, for example openaiModel`;
    return failure('task_unknown', `unknown task ${JSON.stringify(task)}; ${expected}`);
  }
  try {
    // Loaded on use: programs with a language model need none of it.
    const { replyToTask } = await import('./replies.ts');
    const reply = await inTurns(replyToTask(task, input, phases), signal);
    return JSON.stringify(reply, (_, value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return failure('offline_model_failed', `The extractive model failed: ${message}`);
  }
}
