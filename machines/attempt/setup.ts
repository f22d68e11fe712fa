import { assign, emit, enqueueActions, setup } from 'xstate';
import type {
  AttemptInput,
  AttemptOutcome,
  CallProgress,
  Reply,
  ReplyEvent,
  UsageReport,
  Validation,
} from '../contracts/attempt.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import { guardsOf } from '../guards.ts';
import { failureOf, LOST, NO_FAILURE, unexpectedFailure } from '../policies/failures.ts';
import {
  countFallback,
  countRetry,
  keptRecord,
  NO_HOOKS,
  planNextCall,
  type RetryHooks,
  recordAttempt,
} from '../policies/retry.ts';
import { callUsage } from '../policies/usage.ts';
import { missingAttemptActors } from './actors.ts';
import { attemptGuards } from './guards.ts';
import {
  type AttemptState,
  attemptRecord,
  currentCall,
  elapsed,
  NEW_ATTEMPT,
  progressOf,
  stallMs,
  usageInFlight,
  waitMs,
} from './state.ts';

/** Records the failed attempt and plans the next call; the hooks are the user's own retry rules. */
export function recordFailure(state: AttemptState, hooks: RetryHooks): Partial<AttemptState> {
  const record = attemptRecord(state);
  const kept = keptRecord(hooks, record, state.execution);
  const execution = recordAttempt(state.execution, kept.value ?? record, state.policy.prices);
  const failure = kept.broke ?? state.failure ?? NO_FAILURE;
  const elapsedMs = elapsed({ ...state, execution });
  const text = state.reply?.text ?? '';
  return {
    execution,
    isInFlight: false,
    ...planNextCall(execution, failure, text, state.policy, { hooks, elapsedMs }),
  };
}

/** Returns the fields that the next call starts with. */
function nextCall(context: AttemptState) {
  const { next, feedback } = context;
  return { feedback: next?.feedback ?? feedback, elapsedMs: elapsed(context) + waitMs(context) };
}

const vocabulary = setup({
  types: {
    context: {} as AttemptState,
    input: {} as AttemptInput,
    output: {} as AttemptOutcome,
    events: {} as ReplyEvent,
    emitted: {} as Extract<EmittedEvent, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' }>,
  },
  actors: missingAttemptActors,
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
});

export const attemptSetup = vocabulary.extend({
  actions: {
    reportUsage: enqueueActions(({ context, enqueue }) => {
      if (!context.hasParent) return;
      enqueue.sendParent({ type: 'usage.reported', ...usageInFlight(context) } satisfies UsageReport);
    }),
    assignProgress: assign((_, progress: CallProgress) => ({ progress: progressOf(progress) })),
    assignReply: assign((_, { reply, ...progress }: CallProgress & { reply: Reply }) => ({
      reply,
      progress: progressOf(progress),
      failure: reply.failure,
    })),
    assignValue: assign(({ context }, validation: Validation) => ({
      value: validation.ok ? validation.value : null,
      execution: recordAttempt(context.execution, attemptRecord(context), context.policy.prices),
      isInFlight: false,
    })),
    recordMismatch: assign((_, validation: Validation) => ({
      failure: validation.ok ? NO_FAILURE : validation.failure,
    })),
    recordError: assign((_, { error }: { error: unknown }) => ({ failure: unexpectedFailure(error) })),
    recordNoFirstChunk: assign(({ context }) => ({
      failure: failureOf('transport', 'no_reply', `No reply began within ${context.policy.firstChunkMs} ms.`),
    })),
    recordStall: assign(({ context }) => ({
      failure: failureOf('transport', 'stalled', `The reply stopped for more than ${context.policy.chunkMs} ms.`),
    })),
    recordTotalDeadline: assign(({ context }) => ({
      failure: failureOf('deadline', 'total_deadline', `There was no value within ${context.policy.totalMs} ms.`, {
        retryable: false,
      }),
    })),
    recordFailure: assign(({ context }) => recordFailure(context, NO_HOOKS)),
    recordLoss: assign(({ context }) => {
      const record = attemptRecord({ ...context, failure: LOST });
      const execution = recordAttempt(context.execution, record, context.policy.prices);
      return { execution, isInFlight: false, elapsedMs: elapsed({ ...context, execution }) };
    }),
    clearAttempt: assign(NEW_ATTEMPT),
    prepareRetry: assign(({ context }) => ({
      execution: countRetry(context.execution, context.failure ?? NO_FAILURE),
      ...nextCall(context),
    })),
    prepareFallback: assign(({ context }) => ({ execution: countFallback(context.execution), ...nextCall(context) })),
    emitStart: emit(({ context }) => ({
      type: 'attempt-start' as const,
      attemptId: context.id,
      task: context.task,
      attempt: context.execution.attempts.length + 1,
    })),
    emitEnd: emit(({ context }) => ({
      type: 'attempt-end' as const,
      attemptId: context.id,
      task: context.task,
      attempt: context.execution.attempts.length,
      failure: context.execution.attempts.at(-1)?.failure ?? null,
      usage: callUsage(currentCall(context)),
    })),
    emitRetry: emit(({ context }) => ({
      type: 'attempt-retry' as const,
      attemptId: context.id,
      attempt: context.execution.attempts.length + 1,
      model: context.execution.fallbacks,
      delayMs: waitMs(context),
    })),
  },
});
