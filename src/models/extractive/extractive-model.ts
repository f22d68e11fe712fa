import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { TASKS, type Task, taskSchema } from '../../../machines/contracts/phase.ts';
import { phaseInputSchema, type Replies, summaryInputSchema } from '../../../machines/contracts/phase-io.ts';
import { synthesisInputSchema } from '../../../machines/contracts/synthesis.ts';
import { inTurns, type Steps } from '../../internal/async.ts';
import { replySummary, replySynthesis, replyTo } from './replies.ts';

const CHARS_PER_TOKEN = 4;

/**
 * Returns the built-in extractive model (no LLM). It fills the reply to each of the chain's tasks by quoting paragraphs, lists and table
 * rows of the retrieved text. It needs no key, account or network, is deterministic, and states in its notes how an answer was made.
 *
 * It reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of `chunkChars`
 * characters (default 40), as text or as the arguments of a tool call. A request for another task ends in a `failure` part.
 *
 * @throws PostChainError `invalid_option`
 */
export function extractiveModel({ chunkChars = 40 }: { readonly chunkChars?: number } = {}): ChatModel {
  if (!Number.isInteger(chunkChars) || chunkChars < 1)
    throw new PostChainError('invalid_option', `"chunkChars" must be an integer ≥ 1; received ${chunkChars}`);
  return {
    id: 'offline-extractive',
    contextWindowTokens: 32_000,
    stream: (request, { signal }) => parts(request, chunkChars, signal),
  };
}

async function* parts(request: ModelRequest, chunkChars: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) return;
  const reply = await replyText(request, signal);
  if (typeof reply !== 'string' && !signal.aborted) yield { type: 'failure', failure: reply };
  if (typeof reply !== 'string') return;
  const inCall = request.replyForm === 'tool-call';
  for (let from = 0; from < reply.length && !signal.aborted; ) {
    const end = /[\uD800-\uDBFF]/.test(reply.charAt(from + chunkChars - 1)) ? from + chunkChars + 1 : from + chunkChars;
    const text = reply.slice(from, end);
    yield inCall
      ? { type: 'tool-call-delta', index: 0, name: request.schemaName, arguments: text }
      : { type: 'text-delta', text };
    from = end;
  }
  if (signal.aborted) return;
  const inputChars = request.turns.reduce((sum, { content }) => sum + content.length, 0);
  const [inputTokens, outputTokens] = [
    Math.ceil(inputChars / CHARS_PER_TOKEN),
    Math.ceil(reply.length / CHARS_PER_TOKEN),
  ];
  yield {
    type: 'finish',
    reason: inCall ? 'tool-calls' : 'stop',
    usage: { inputTokens, outputTokens, estimated: true },
  };
}

/** Returns the reply as JSON text with scores of four decimals, or a failure, and lets timers fire meanwhile. */
async function replyText({ task, input }: ModelRequest, signal: AbortSignal): Promise<string | Failure> {
  const known = taskSchema.safeParse(task);
  if (!known.success) {
    const expected = `the extractive model supports ${TASKS.join(', ')}; use an LLM, for example openaiModel`;
    return failure('task_unknown', `unknown task ${JSON.stringify(task)}; ${expected}`);
  }
  try {
    const reply = await inTurns(replyOf(known.data, input), signal);
    return JSON.stringify(reply, (_, value) =>
      typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value,
    );
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return failure('offline_model_failed', `The extractive model failed: ${message}`);
  }
}

function failure(code: string, text: string): Failure {
  const message = text.replace(/\s+/g, ' ');
  return { stage: 'unexpected', code, message, retryable: false, retryAfterMs: null, status: null, issues: [] };
}

/** Returns the reply to a task, in steps. Throws if the input is not that of the task. */
function* replyOf(task: Task, input: unknown): Steps<Replies[Task]> {
  // The wait before the first step lets the program do something else between two replies.
  yield;
  if (task === 'synthesis') return yield* replySynthesis(synthesisInputSchema.parse(input));
  if (task === 'continuation') return { done: true, finalOutput: null, next: null };
  if (task === 'summary') return yield* replySummary(summaryInputSchema.parse(input));
  const given = phaseInputSchema.parse(input);
  if (given.phase !== task) throw new TypeError(`the task ${task} received the input of ${given.phase}`);
  return yield* replyTo(given);
}
