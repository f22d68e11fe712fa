import type { ContinuationReply } from '../../../machines/contracts/capability.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { TASKS, type Task, taskSchema } from '../../../machines/contracts/phase.ts';
import { type PhaseInput, phaseInputSchema, summaryInputSchema } from '../../../machines/contracts/phase-io.ts';
import { synthesisInputSchema } from '../../../machines/contracts/synthesis.ts';
import { inTurns, type Steps } from '../../internal/async.ts';
import { replyObservation } from './observation.ts';
import {
  replyAction,
  replyExperience,
  replyIntention,
  replySummary,
  replySynthesis,
  replyUnderstanding,
  replyYield,
} from './replies.ts';

const CHARS_PER_TOKEN = 4;

/**
 * Returns the built-in extractive model (no LLM). It fills the reply to each of the chain's tasks by ranking and selecting sentences of the
 * retrieved text. It needs no key, account or network, is deterministic, and states in its notes how an answer was made.
 *
 * It reads `request.input`; the rendered turns only count for the estimated usage. The reply's JSON comes in deltas of `chunkChars`
 * characters (default 40), as text or as the arguments of a tool call. A request for another task ends in a `failure` part.
 *
 * @throws PostChainError `invalid_option`
 */
export function extractiveModel({ chunkChars = 40 }: { readonly chunkChars?: number } = {}): ChatModel {
  if (!Number.isInteger(chunkChars) || chunkChars < 1) {
    const message = `"chunkChars" must be an integer ≥ 1; received ${chunkChars}`;
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
  const text = await replyText(request, signal);
  if (signal.aborted) return;
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

/** Scores have four decimals; more would be noise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value;
}

/** Returns the reply as JSON text, or a failure, and lets timers fire meanwhile. */
async function replyText({ task, input }: ModelRequest, signal: AbortSignal): Promise<string | Failure> {
  const known = taskSchema.safeParse(task);
  if (!known.success) {
    const expected = `the extractive model supports ${TASKS.join(', ')}; use an LLM, for example openaiModel`;
    return failure('task_unknown', `unknown task ${JSON.stringify(task)}; ${expected}`);
  }
  try {
    return JSON.stringify(await inTurns(extractiveReply(known.data, input), signal), rounded);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return failure('offline_model_failed', `The extractive model failed: ${message}`);
  }
}

function failure(code: string, text: string): Failure {
  const message = text.replace(/\s+/g, ' ');
  return { stage: 'unexpected', code, message, retryable: false, retryAfterMs: null, status: null, issues: [] };
}

/** The model calls no capability, so there is nothing to continue. */
const DONE: ContinuationReply = { done: true, finalOutput: null, next: null };

/** Returns the reply to a task, in steps. Throws if the input is not that of the task. */
function* extractiveReply(task: Task, input: unknown): Steps<object> {
  // The wait before the first step lets the program do something else between two replies.
  yield;
  if (task === 'synthesis') return yield* replySynthesis(synthesisInputSchema.parse(input));
  if (task === 'continuation') return DONE;
  if (task === 'summary') return yield* replySummary(summaryInputSchema.parse(input));
  const phaseInput = phaseInputSchema.parse(input);
  if (phaseInput.phase !== task) throw new TypeError(`the task ${task} received the input of ${phaseInput.phase}`);
  return yield* replyTo(phaseInput);
}

function replyTo(input: PhaseInput): Steps<object> {
  switch (input.phase) {
    case 'action':
      return replyAction(input);
    case 'experience':
      return replyExperience(input);
    case 'intention':
      return replyIntention(input);
    case 'observation':
      return replyObservation(input);
    case 'understanding':
      return replyUnderstanding(input);
    case 'yield':
      return replyYield(input);
    default: {
      const never: never = input;
      return never;
    }
  }
}
