import { assign, emit, setup } from 'xstate';
import type {
  AttemptExecution,
  AttemptInput,
  AttemptOutcome,
  AttemptPolicy,
  AttemptRecord,
  Feedback,
  Reply,
} from '../contracts/attempt.ts';
import { MAX_TIMER_MS, type TokenUsage } from '../contracts/budget.ts';
import type { Failure } from '../contracts/failure.ts';
import type { ChainFact } from '../contracts/journal-entry.ts';
import type { Verdict } from '../contracts/verdict.ts';
import { guardsOf } from '../guards.ts';
import { failureOf, NO_FAILURE, unexpectedFailure } from '../policies/failures.ts';
import { backoffMs, countRetry, feedbackFor, hopeless, recordAttempt, retryAllowed } from '../policies/retry.ts';
import { estimateTokens, NO_USAGE } from '../policies/usage.ts';
import { attemptPorts, type CallProgress, type ReadReplyEvent, type Validation } from './ports.ts';

/** JSON, all of it. `reply`, `value` and `failure` belong to the attempt under way and are cleared before the next [A5]. */
export interface AttemptContext extends AttemptInput {
  readonly execution: AttemptExecution;
  readonly feedback: Feedback | null;
  /** Where the call stands; null while nothing has come. */
  readonly progress: CallProgress | null;
  readonly reply: Reply | null;
  readonly value: unknown;
  readonly failure: Failure | null;
  readonly retryInMs: number;
}

type AttemptFact = Extract<ChainFact, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' }>;

/** What belongs to one attempt, before it has begun. */
const NOTHING_YET = {
  progress: null,
  reply: null,
  value: null,
  failure: null,
  retryInMs: 0,
} as const;

export function startAttempts(input: AttemptInput): AttemptContext {
  return {
    ...input,
    execution: { id: input.id, task: input.task, attempts: [], corrections: 0, transportRetries: 0, usage: NO_USAGE },
    feedback: null,
    ...NOTHING_YET,
  };
}

/** What the call under way has used: told by its reply, else estimated by what was asked and heard. */
export function callUsage({ reply, progress, input }: AttemptContext): TokenUsage {
  if (reply !== null) return reply.usage;
  const asked = estimateTokens(JSON.stringify(input) ?? '');
  return { inputTokens: asked, outputTokens: Math.ceil((progress?.chars ?? 0) / 4), estimated: true };
}

/** The guards' policies by name: the chart asks whether a verdict holds, the journal also shows what it saw. */
export const attemptVerdicts = {
  replyIsBroken: ({ event }: { event: unknown }): Verdict => {
    const failure = (event as { reply?: Reply }).reply?.failure ?? null;
    return { holds: failure !== null, inputs: { code: failure?.code ?? null } };
  },
  failureIsHopeless: ({ context }: { context: AttemptContext }): Verdict => hopeless(context.failure ?? NO_FAILURE),
  retryIsAllowed: ({ context }: { context: AttemptContext }): Verdict =>
    retryAllowed(context.execution, context.failure ?? NO_FAILURE, context.policy),
  waitIsOver: ({ context }: { context: AttemptContext }): Verdict => ({
    holds: context.retryInMs <= 0,
    inputs: { retryInMs: context.retryInMs },
  }),
};

export const attemptSetup = setup({
  types: {
    context: {} as AttemptContext,
    input: {} as AttemptInput,
    output: {} as AttemptOutcome,
    events: {} as ReadReplyEvent,
    emitted: {} as AttemptFact,
  },
  actors: attemptPorts,
  guards: {
    ...guardsOf(attemptVerdicts),
    replyIsValid: (_, { ok }: Validation) => ok,
  },
  delays: {
    firstChunkDeadline: ({ context }) => context.policy.firstChunkMs,
    stallDeadline: ({ context }) => stallMs(context.policy),
    backoff: ({ context }) => context.retryInMs,
  },
  actions: {
    clearAttempt: assign(NOTHING_YET),
    noteProgress: assign((_, progress: CallProgress) => ({ progress })),
    takeReply: assign((_, { reply, progress }: { reply: Reply; progress: CallProgress }) => ({
      reply,
      progress,
      failure: reply.failure,
    })),
    takeValue: assign(({ context }, validation: Validation) => ({
      value: validation.ok ? validation.value : null,
      execution: recordAttempt(context.execution, attemptRecord(context)),
    })),
    takeMisfit: assign((_, validation: Validation) => ({ failure: validation.ok ? NO_FAILURE : validation.failure })),
    takeError: assign((_, { error }: { error: unknown }) => ({ failure: unexpectedFailure(error) })),
    noteNoFirstChunk: assign(({ context }) => ({
      failure: failureOf('transport', 'no_reply', `No reply began within ${context.policy.firstChunkMs} ms.`),
    })),
    noteStall: assign(({ context }) => ({
      failure: failureOf('transport', 'stalled', `The reply stopped for more than ${context.policy.chunkMs} ms.`),
    })),
    recordAttempt: assign(({ context }) => ({ execution: recordAttempt(context.execution, attemptRecord(context)) })),
    prepareRetry: assign(({ context }) => {
      const failure = context.failure ?? NO_FAILURE;
      return {
        execution: countRetry(context.execution, failure),
        feedback: feedbackFor(context.reply?.text ?? '', failure) ?? context.feedback,
        retryInMs: backoffMs(context.execution, failure, context.policy),
      };
    }),
    announceStart: emit(({ context }) => ({
      type: 'attempt-start' as const,
      attemptId: context.id,
      task: context.task,
      attempt: context.execution.attempts.length + 1,
    })),
    announceEnd: emit(({ context }) => ({
      type: 'attempt-end' as const,
      attemptId: context.id,
      task: context.task,
      attempt: context.execution.attempts.length,
      failure: context.failure,
      usage: callUsage(context),
    })),
    announceRetry: emit(({ context }) => ({
      type: 'attempt-retry' as const,
      attemptId: context.id,
      attempt: context.execution.attempts.length + 1,
      inMs: context.retryInMs,
    })),
  },
});

/** A chunk may come just after a heartbeat: an eighth more, so that a live stream is never cut. */
function stallMs({ chunkMs }: AttemptPolicy): number {
  return Math.min(MAX_TIMER_MS, chunkMs * 1.125);
}

/** Where the call stands, out of what its reader told. */
export function progressOf({ openedAtMs, atMs, chars }: CallProgress): CallProgress {
  return { openedAtMs, atMs, chars };
}

/** The attempt under way as a record: one that ran into a time-out ends when its timer fired. */
function attemptRecord(context: AttemptContext): AttemptRecord {
  const { execution, reply, failure, policy, progress } = context;
  const waitedMs =
    failure?.code === 'no_reply' ? policy.firstChunkMs : failure?.code === 'stalled' ? stallMs(policy) : 0;
  return {
    attempt: execution.attempts.length + 1,
    text: reply?.text ?? '',
    failure,
    usage: callUsage(context),
    startedAtMs: progress?.openedAtMs ?? null,
    durationMs: Math.max(0, progress === null ? 0 : progress.atMs - progress.openedAtMs) + waitedMs,
  };
}

/** What the machine ends with. */
export function attemptOutcome({ execution, value, failure }: AttemptContext): AttemptOutcome {
  return failure === null ? { ok: true, value, execution } : { ok: false, failure, execution };
}
