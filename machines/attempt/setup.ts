import { assign, emit, setup } from 'xstate';
import type { AttemptExecution, AttemptInput, AttemptOutcome, Feedback, Reply } from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';
import type { ChainFact } from '../contracts/journal-entry.ts';
import type { Verdict } from '../contracts/verdict.ts';
import { failureOf, NO_FAILURE, unexpectedFailure } from '../policies/failures.ts';
import { backoffMs, countRetry, feedbackFor, hopeless, recordAttempt, retryAllowed } from '../policies/retry.ts';
import { NO_USAGE } from '../policies/usage.ts';
import { attemptPorts, type ReadReplyEvent, type Validation } from './ports.ts';

/** JSON, all of it. `reply`, `value` and `failure` belong to the attempt under way and are cleared before the next [A5]. */
export interface AttemptContext extends AttemptInput {
  readonly execution: AttemptExecution;
  readonly feedback: Feedback | null;
  readonly openedAtMs: number;
  readonly seenAtMs: number;
  readonly reply: Reply | null;
  readonly value: unknown;
  readonly failure: Failure | null;
  readonly retryInMs: number;
}

type AttemptFact = Extract<ChainFact, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' }>;

export function startAttempts(input: AttemptInput): AttemptContext {
  return {
    ...input,
    execution: { id: input.id, task: input.task, attempts: [], corrections: 0, transportRetries: 0, usage: NO_USAGE },
    feedback: null,
    openedAtMs: 0,
    seenAtMs: 0,
    reply: null,
    value: null,
    failure: null,
    retryInMs: 0,
  };
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, estimated: true };

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
    replyIsBroken: (args) => attemptVerdicts.replyIsBroken(args).holds,
    replyIsValid: (_, { ok }: Validation) => ok,
    failureIsHopeless: (args) => attemptVerdicts.failureIsHopeless(args).holds,
    retryIsAllowed: (args) => attemptVerdicts.retryIsAllowed(args).holds,
    waitIsOver: (args) => attemptVerdicts.waitIsOver(args).holds,
  },
  delays: {
    firstChunkDeadline: ({ context }) => context.policy.firstChunkMs,
    // A chunk may come just after a heartbeat: an eighth more, so that a live stream is never cut.
    stallDeadline: ({ context }) => context.policy.chunkMs * 1.125,
    backoff: ({ context }) => context.retryInMs,
  },
  actions: {
    clearAttempt: assign({ reply: null, value: null, failure: null, retryInMs: 0 }),
    noteOpened: assign((_, { atMs }: { atMs: number }) => ({ openedAtMs: atMs, seenAtMs: atMs })),
    noteProgress: assign((_, { atMs }: { atMs: number }) => ({ seenAtMs: atMs })),
    takeReply: assign((_, { reply, atMs }: { reply: Reply; atMs: number }) => ({
      reply,
      seenAtMs: atMs,
      failure: reply.failure,
    })),
    takeValidation: assign((_, validation: Validation) =>
      validation.ok ? { value: validation.value } : { failure: validation.failure },
    ),
    takeError: assign((_, { error }: { error: unknown }) => ({ failure: unexpectedFailure(error) })),
    noteNoFirstChunk: assign(({ context }) => ({
      seenAtMs: context.openedAtMs + context.policy.firstChunkMs,
      failure: failureOf('transport', 'no_reply', `No reply began within ${context.policy.firstChunkMs} ms.`),
    })),
    noteStall: assign(({ context }) => ({
      seenAtMs: context.seenAtMs + context.policy.chunkMs,
      failure: failureOf('transport', 'stalled', `The reply stopped for more than ${context.policy.chunkMs} ms.`),
    })),
    recordAttempt: assign(({ context }) => ({
      execution: recordAttempt(context.execution, {
        attempt: context.execution.attempts.length + 1,
        text: context.reply?.text ?? '',
        failure: context.failure,
        usage: context.reply?.usage ?? NO_TOKENS,
        startedAtMs: context.openedAtMs,
        durationMs: Math.max(0, context.seenAtMs - context.openedAtMs),
      }),
    })),
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
      usage: context.reply?.usage ?? NO_TOKENS,
    })),
    announceRetry: emit(({ context }) => ({
      type: 'attempt-retry' as const,
      attemptId: context.id,
      attempt: context.execution.attempts.length + 1,
      inMs: context.retryInMs,
    })),
  },
});

/** What the machine ends with. */
export function attemptOutcome({ execution, value, failure }: AttemptContext): AttemptOutcome {
  return failure === null ? { ok: true, value, execution } : { ok: false, failure, execution };
}
