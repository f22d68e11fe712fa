import { assign, emit, setup } from 'xstate';
import type { AttemptInput, AttemptOutcome, Reply, Validation } from '../contracts/attempt.ts';
import type { ChainFact } from '../contracts/journal-entry.ts';
import { guardsOf } from '../guards.ts';
import { failureOf, NO_FAILURE, unexpectedFailure } from '../policies/failures.ts';
import { countFallback, countRetry, nextCall, recordAttempt } from '../policies/retry.ts';
import { NO_HOOKS, type RetryHooks } from '../policies/retry-hooks.ts';
import { type AttemptContext, attemptRecord, callUsage, NOTHING_YET, stallMs } from './context.ts';
import { attemptPorts, type CallProgress, type ReadReplyEvent } from './ports.ts';
import { attemptVerdicts } from './verdicts.ts';

type AttemptFact = Extract<ChainFact, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' }>;

const types = {
  context: {} as AttemptContext,
  input: {} as AttemptInput,
  output: {} as AttemptOutcome,
  events: {} as ReadReplyEvent,
  emitted: {} as AttemptFact,
};

/** The two actions that rules of the user's own have a say in [A3]. */
export function retryActions({ recordFailure, prepareRetry }: RetryHooks) {
  const { assign: typed } = setup({ types, actors: attemptPorts });
  return {
    recordAttempt: typed(({ context }) => {
      const record = attemptRecord(context);
      const kept = recordFailure === undefined ? record : recordFailure(record, context.execution);
      return { execution: recordAttempt(context.execution, kept) };
    }),
    prepareRetry: typed(({ context }) => {
      const { execution, reply, policy } = context;
      const failure = context.failure ?? NO_FAILURE;
      const next = nextCall(execution, reply?.text ?? '', failure, policy);
      const { waitMs, feedback } = prepareRetry === undefined ? next : prepareRetry(next, execution, failure);
      return {
        execution: countRetry(execution, failure),
        feedback: feedback ?? context.feedback,
        retryInMs: waitMs,
      };
    }),
  };
}

export const attemptSetup = setup({
  types,
  actors: attemptPorts,
  guards: {
    ...guardsOf(attemptVerdicts),
    replyIsValid: (_, { ok }: Validation) => ok,
  },
  delays: {
    firstChunkDeadline: ({ context }) => context.policy.firstChunkMs,
    stallDeadline: ({ context }) => stallMs(context.policy),
    totalDeadline: ({ context }) => context.policy.totalMs,
    backoff: ({ context }) => context.retryInMs,
  },
  actions: {
    ...retryActions(NO_HOOKS),
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
    noteTotalDeadline: assign(({ context }) => ({
      failure: failureOf('deadline', 'total_deadline', `There was no value within ${context.policy.totalMs} ms.`, {
        retryable: false,
      }),
    })),
    prepareFallback: assign(({ context }) => {
      const { execution, failure, reply, policy } = context;
      const { feedback } = nextCall(execution, reply?.text ?? '', failure ?? NO_FAILURE, policy);
      return { execution: countFallback(execution), feedback: feedback ?? context.feedback, retryInMs: 0 };
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
      model: context.execution.fallbacks,
      inMs: context.retryInMs,
    })),
  },
});
