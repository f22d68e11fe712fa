import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { type Phase, TASKS, type Task, taskSchema } from '../../../machines/contracts/phase.ts';
import type { SummaryInput } from '../../../machines/contracts/phase-io.ts';
import { phaseInputSchema, type Replies, summaryInputSchema } from '../../../machines/contracts/phase-io.ts';
import { answerMaterialSchema } from '../../../machines/contracts/synthesis.ts';
import { estimatedUsage } from '../../../machines/policies/usage.ts';
import { extractSummary } from '../../../machines/text/summary.ts';
import { inTurns, type Steps } from '../../internal/async.ts';
import { repliesTo, replySynthesis, replyTo } from './replies.ts';

/** Summarizes each text by its most representative sentences. */
function* replySummary({ request, texts }: SummaryInput): Steps<Replies['summary']> {
  const summaries: Replies['summary']['summaries'] = [];
  for (const { messageId, content, maxChars } of texts) {
    summaries.push({ messageId, summary: extractSummary(content, maxChars, request) });
    yield;
  }
  return { summaries };
}

/**
 * Returns the built-in extractive model (no LLM). It fills the reply to each of the chain's tasks by quoting paragraphs, lists and table
 * rows of the retrieved text. It needs no key, account or network, is deterministic, and states in its notes how an answer was made. It
 * reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of `chunkChars` (default
 * 40) characters, as text or as the arguments of a tool call. A request for another task ends in a `failure` part.
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
  const known = taskSchema.safeParse(task);
  if (!known.success) {
    const expected = `the extractive model supports ${TASKS.join(', ')}; use an LLM, for example openaiModel`;
    return failure('task_unknown', `unknown task ${JSON.stringify(task)}; ${expected}`);
  }
  try {
    const reply = await inTurns(replyOf(known.data, input, phases), signal);
    return JSON.stringify(reply, (_, value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return failure('offline_model_failed', `The extractive model failed: ${message}`);
  }
}

/** Returns the reply to a task, in steps. Throws if the input is not that of the task. */
function* replyOf(task: Task, input: unknown, phases: readonly Phase[] = []): Steps<Replies[Task] | Partial<Replies>> {
  // The wait before the first step lets the program do something else between two replies.
  yield;
  if (task === 'synthesis') return yield* replySynthesis(answerMaterialSchema.parse(input));
  if (task === 'continuation') return { done: true, finalOutput: null, next: [] };
  if (task === 'summary') return yield* replySummary(summaryInputSchema.parse(input));
  const given = phaseInputSchema.parse(input);
  if (given.phase !== task) throw new TypeError(`the task ${task} received the input of ${given.phase}`);
  return phases.length > 1 ? yield* repliesTo(given, phases) : yield* replyTo(given);
}
