import type {
  AttemptExecution,
  AttemptInput,
  AttemptOutcome,
  AttemptPolicy,
  AttemptRecord,
  CallInFlight,
  CallProgress,
  Feedback,
  NextCall,
  Reply,
  UsageInFlight,
} from '../contracts/attempt.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';
import { MAX_TIMER_MS } from '../contracts/limits.ts';
import { type ModelStatus, NEW_MODEL, newModels } from '../contracts/model-status.ts';
import { aborted, overBudget } from '../policies/failures.ts';
import { type ModelRoute, mayBeProse, noModelFailure, startRoute, statusOf } from '../policies/model-status.ts';
import { newExecution, recordAttempt } from '../policies/retry.ts';
import { callUsage, costExceeds, promptTokensLeft, textChars, tokensOfChars } from '../policies/usage.ts';
import type { ReadReplyInput, ValidateReplyInput } from './actors.ts';

/**
 * The state of the attempt machine, all of it JSON. `progress`, `reply`, `value` and `failure` belong to the current attempt and are
 * cleared before the next one.
 */
export interface AttemptState extends AttemptInput, ModelRoute {
  readonly models: readonly ModelStatus[];
  readonly hasParent: boolean;
  /** The models that the parent machine knows of: those of the input, or those reported last. */
  readonly knownToParent: readonly ModelStatus[] | null;
  /** Whether there was a model to call when the attempt started. */
  readonly hasModel: boolean;
  readonly execution: AttemptExecution;
  readonly feedback: Feedback | null;
  /** What was known of the current model before its last call. */
  readonly statusBefore: ModelStatus;
  /** Whether a call has started that is not in `execution` yet. */
  readonly isInFlight: boolean;
  /** How far the call has come; null before its first chunk. */
  readonly progress: CallProgress | null;
  readonly reply: Reply | null;
  readonly value: unknown;
  readonly failure: Failure | null;
  /** The next call, once the policy has allowed one. */
  readonly next: NextCall | null;
  /** Whether `finalizeOrThrow` has been called, and the value that it returned in place of a reply. */
  readonly isFinal: boolean;
  readonly final: { readonly value: unknown } | null;
  /** The duration of all attempts and of the waits between them. */
  readonly elapsedMs: number;
}

/** The fields of one attempt before it starts. */
export const NEW_ATTEMPT = {
  isInFlight: true,
  progress: null,
  reply: null,
  value: null,
  failure: null,
  next: null,
} as const;

export function initialAttemptState(input: AttemptInput): AttemptState {
  const { task, policy } = input;
  const { model, models, gaveUp } = startRoute(task, input.models ?? newModels(policy.maxFallbacks), policy);
  return {
    // Before the spreads: Node 20 gives each object whose literal begins with a spread its own hidden class.
    model: model ?? 0,
    ...NEW_ATTEMPT,
    ...input,
    models,
    gaveUp,
    hasModel: model !== null,
    hasParent: input.hasParent ?? false,
    knownToParent: input.models ?? null,
    statusBefore: NEW_MODEL,
    execution: newExecution(input),
    feedback: null,
    elapsedMs: 0,
    isFinal: false,
    final: null,
    isInFlight: model !== null,
  };
}

/** Returns the usage to report to the parent: of the recorded attempts, and of the current call until it is recorded too. */
export function usageInFlight(state: AttemptState): UsageInFlight {
  return { finished: state.execution.usage, call: state.isInFlight ? currentCall(state) : null };
}

export function currentCall({ input, progress, reply, policy, model }: AttemptState): CallInFlight {
  const price = policy.prices[model] ?? null;
  return {
    input,
    model,
    promptChars: progress?.promptChars ?? null,
    isAlive: progress !== null || reply !== null,
    replyChars: progress?.chars ?? 0,
    usage: reply?.usage ?? null,
    price,
    maxOutputTokens: policy.maxOutputTokens[model] ?? null,
  };
}

export function callInput(state: AttemptState): ReadReplyInput {
  const { id, task, execution, model, policy } = state;
  return {
    attemptId: id,
    task,
    attempt: execution.attempts.length + 1,
    model,
    form: statusOf(state).form,
    mayBeProse: mayBeProse(state, execution.corrections, policy),
    notCalled: state.hasModel ? null : noModelFailure(state),
    maxPromptTokens: promptTokensLeft(policy, model, execution.usage),
    input: state.input,
    instructions: state.instructions ?? null,
    ...(state.phases !== undefined && { phases: state.phases }),
    feedback: state.feedback,
    policy,
  };
}

/**
 * Whether the next call could exceed the cost limit. The machine does not know its prompt, only what it is rendered from and how long the
 * earlier prompts were; `readReply` renders the prompt and counts its tokens.
 */
export function callMayExceedCost(state: AttemptState): GuardResult {
  const { policy, model, execution, input, instructions, progress, reply, hasModel } = state;
  if (policy.maxCost === null || !hasModel || progress !== null || reply !== null) return { holds: false, inputs: {} };
  const before = execution.attempts.at(-1)?.usage.inputTokens ?? 0;
  const promptTokens = Math.max(tokensOfChars(textChars([input, instructions])), policy.promptTokens, before);
  const { holds, inputs } = costExceeds(policy, model, execution.usage.cost, promptTokens);
  return { holds, inputs: { promptTokens, ...inputs } };
}

/** Returns the changes for a call that is not made: it uses no tokens. */
export function notMade(): Pick<AttemptState, 'failure' | 'reply'> {
  const failure = overBudget();
  const usage = { inputTokens: 0, outputTokens: 0, estimated: false };
  return { failure, reply: { text: '', value: null, prose: false, failure, usage } };
}

export function validationInput({ task, input, phases }: AttemptState, value: unknown): ValidateReplyInput {
  return { task, input, ...(phases !== undefined && { phases }), value };
}

/**
 * Returns the time without progress after which a reply counts as stalled, in milliseconds. A chunk may arrive just
 * after a progress report, so an eighth is added: a live stream is never cut off.
 */
export function stallMs({ chunkMs }: AttemptPolicy): number {
  return Math.min(MAX_TIMER_MS, chunkMs * 1.125);
}

export function progressOf({ openedAtMs, atMs, chars, promptChars = null }: CallProgress): CallProgress {
  return { openedAtMs, atMs, chars, promptChars };
}

export function waitMs({ next }: Pick<AttemptState, 'next'>): number {
  return next?.waitMs ?? 0;
}

/** Returns the total duration, including the attempt recorded last. */
export function elapsed({ elapsedMs, execution }: Pick<AttemptState, 'elapsedMs' | 'execution'>): number {
  return elapsedMs + (execution.attempts.at(-1)?.durationMs ?? 0);
}

export function attemptRecord(state: AttemptState): AttemptRecord {
  const { execution, reply, failure, progress } = state;
  return {
    attempt: execution.attempts.length + 1,
    model: state.model,
    text: reply?.text ?? '',
    failure,
    usage: callUsage(currentCall(state)),
    startedAtMs: progress?.openedAtMs ?? null,
    durationMs: Math.max(0, durationMs(state)),
    ...(failure === null && reply?.repaired && { repaired: reply.repaired }),
  };
}

/**
 * Returns the duration of the current attempt. One that timed out ends when its timer fires. If the reader itself ended
 * the reply, the times that it reported count.
 */
function durationMs({ failure, policy, progress, reply, elapsedMs }: AttemptState): number {
  const reportedMs = progress === null ? 0 : progress.atMs - progress.openedAtMs;
  switch (failure?.code) {
    case 'no_reply':
      return reply === null ? policy.firstChunkMs : reportedMs;
    case 'stalled':
      return reply === null ? reportedMs + stallMs(policy) : reportedMs;
    case 'total_deadline':
      return policy.totalMs - elapsedMs;
    default:
      return reportedMs;
  }
}

/** Returns the execution of a machine that was stopped: a call in flight is its last attempt, which was aborted. */
export function abortedExecution(state: AttemptState, cause: string): AttemptExecution {
  if (!state.isInFlight) return state.execution;
  return recordAttempt(state.execution, attemptRecord({ ...state, failure: aborted(cause) }), state.policy.prices);
}

export function attemptOutcome({ execution, value, failure, reply, final, phases }: AttemptState): AttemptOutcome {
  if (failure !== null) return { ok: false, failure, execution };
  const prose = final === null && (reply?.prose ?? false);
  return { ok: true, value, execution, prose, ...(phases !== undefined && { phases }) };
}
