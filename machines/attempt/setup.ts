import { assign, emit, setup } from 'xstate';
import type {
  AttemptInput,
  AttemptOutcome,
  CallProgress,
  Reply,
  ReplyEvent,
  Validation,
} from '../contracts/attempt.ts';
import type { EmittedEvent } from '../contracts/events.ts';

import { guardsOf } from '../guards.ts';
import { failureOf, LOST, NO_FAILURE, unexpectedFailure } from '../policies/failures.ts';

import { countFallback, countRetry, planNextCall, recordAttempt } from '../policies/retry.ts';
import { keptRecord, NO_HOOKS, type RetryHooks } from '../policies/retry-hooks.ts';
import { type AttemptContext, attemptRecord, callUsage, elapsed, NOTHING_YET, stallMs, waitMs } from './context.ts';
import { attemptGuards } from './guards.ts';
import { attemptPorts } from './ports.ts';

type AttemptFact = Extract<EmittedEvent, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' }>;

const types = {
  context: {} as AttemptContext,
  input: {} as AttemptInput,
  output: {} as AttemptOutcome,
  events: {} as ReplyEvent,
  emitted: {} as AttemptFact,
};

/** The attempt failed: it is recorded, and what comes next is decided, with a say of the user's own rules [A3]. */
export function recordFailureWith(hooks: RetryHooks) {
  return setup({ types, actors: attemptPorts }).assign(({ context }) => {
    const record = attemptRecord(context);
    const kept = keptRecord(hooks, record, context.execution);
    const execution = recordAttempt(context.execution, kept.value ?? record, context.policy.prices);
    const failure = kept.broke ?? context.failure ?? NO_FAILURE;
    const elapsedMs = elapsed({ ...context, execution });
    const text = context.reply?.text ?? '';
    return { execution, ...planNextCall(execution, failure, text, context.policy, { hooks, elapsedMs }) };
  });
}

/** What the call to come is told, and what its wait adds. */
function underWay(context: AttemptContext) {
  const { next, feedback } = context;
  return { feedback: next?.feedback ?? feedback, elapsedMs: elapsed(context) + waitMs(context) };
}

export const attemptSetup = setup({
  types,
  actors: attemptPorts,
  guards: {
    ...guardsOf(attemptGuards),
    replyIsValid: (_, { ok }: Validation) => ok,
  },
  delays: {
    firstChunkDeadline: ({ context }) => context.policy.firstChunkMs,
    stallDeadline: ({ context }) => stallMs(context.policy),
    totalDeadline: ({ context }) => context.policy.totalMs,
    backoff: ({ context }) => waitMs(context),
  },
  actions: {
    recordFailure: recordFailureWith(NO_HOOKS),
    recordLoss: assign(({ context }) => {
      const record = attemptRecord({ ...context, failure: LOST });
      const execution = recordAttempt(context.execution, record, context.policy.prices);
      return { execution, elapsedMs: elapsed({ ...context, execution }) };
    }),
    clearAttempt: assign(NOTHING_YET),
    noteProgress: assign((_, progress: CallProgress) => ({ progress })),
    takeReply: assign((_, { reply, progress }: { reply: Reply; progress: CallProgress }) => ({
      reply,
      progress,
      failure: reply.failure,
    })),
    takeValue: assign(({ context }, validation: Validation) => ({
      value: validation.ok ? validation.value : null,
      execution: recordAttempt(context.execution, attemptRecord(context), context.policy.prices),
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
    prepareRetry: assign(({ context }) => ({
      execution: countRetry(context.execution, context.failure ?? NO_FAILURE),
      ...underWay(context),
    })),
    prepareFallback: assign(({ context }) => ({ execution: countFallback(context.execution), ...underWay(context) })),
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
      failure: context.execution.attempts.at(-1)?.failure ?? null,
      usage: callUsage(context),
    })),
    announceRetry: emit(({ context }) => ({
      type: 'attempt-retry' as const,
      attemptId: context.id,
      attempt: context.execution.attempts.length + 1,
      model: context.execution.fallbacks,
      inMs: waitMs(context),
    })),
  },
});
