import { assign, emit, enqueueActions, setup } from 'xstate';
import type {
  AttemptEvent,
  AttemptInput,
  AttemptOutcome,
  CallProgress,
  ModelsReport,
  Reply,
  UsageReport,
  Validation,
} from '../contracts/attempt.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import { guardsOf } from '../guards.ts';
import { failureOf, LOST, NO_FAILURE, unexpectedFailure } from '../policies/failures.ts';
import { formFailure, learnFrom, modelChange, retriesForm, statusOf, successor } from '../policies/model-status.ts';
import {
  countFallback,
  countRetry,
  fallbackDue,
  finalResult,
  invalidFinalValue,
  isHopeless,
  keptRecord,
  NO_HOOKS,
  planNextCall,
  type RetryHooks,
  recordAttempt,
  retryAllowed,
} from '../policies/retry.ts';
import { callUsage, costOf } from '../policies/usage.ts';
import { missingAttemptActors } from './actors.ts';
import {
  type AttemptState,
  attemptRecord,
  callMayExceedCost,
  currentCall,
  elapsed,
  NEW_ATTEMPT,
  notMade,
  progressOf,
  stallMs,
  usageInFlight,
  waitMs,
} from './state.ts';

/** Records the failed attempt and plans the next call; the hooks are the user's own retry rules. */
export function recordFailure(state: AttemptState, hooks: RetryHooks): Partial<AttemptState> {
  const { policy, reply } = state;
  const failed = formFailure(state.failure ?? NO_FAILURE, statusOf(state));
  const record = attemptRecord({ ...state, failure: failed });
  const kept = keptRecord(hooks, record, state.execution);
  const execution = recordAttempt(state.execution, kept.value ?? record, policy.prices);
  const failure = kept.hookError ?? failed;
  const elapsedMs = elapsed({ ...state, execution });
  const learned = learn({ ...state, failure: failed });
  const route = { ...state, models: learned.models };
  return {
    execution,
    isInFlight: false,
    ...learned,
    ...planNextCall(execution, failure, reply?.text ?? '', policy, { hooks, elapsedMs, route }),
  };
}

/** Asks the policy, once, for a value or another message; the hooks are the user's own retry rules. */
export function finalize({ failure, execution, isFinal }: AttemptState, hooks: RetryHooks): Partial<AttemptState> {
  if (isFinal || failure === null) return { final: null };
  return { isFinal: true, ...finalResult(hooks, failure, execution) };
}

/** Returns what is known of the models after the current call: the same array if nothing changed. */
function learn(state: AttemptState): Pick<AttemptState, 'models' | 'statusBefore'> {
  const statusBefore = statusOf(state);
  const status = learnFrom(statusBefore, state, state.policy);
  return { models: status === statusBefore ? state.models : state.models.with(state.model, status), statusBefore };
}

type ReplyEnd = Extract<AttemptEvent, { type: 'reply.ended' }>;

/** Returns the changes by a complete reply; they include the value if it is valid. */
function replied(state: AttemptState, { reply, validation, ...progress }: ReplyEnd): Partial<AttemptState> {
  const rejected = validation === undefined || validation.ok ? null : validation.failure;
  const changes = { reply, progress: progressOf(progress), failure: reply.failure ?? rejected };
  return changes.failure === null && validation?.ok
    ? { ...changes, ...completed({ ...state, ...changes }, validation.value) }
    : changes;
}

function completed(state: AttemptState, value: unknown): Partial<AttemptState> {
  const execution = recordAttempt(state.execution, attemptRecord(state), state.policy.prices);
  return { value, execution, ...learn(state), isInFlight: false };
}

function callAfter(context: AttemptState) {
  const { next, feedback } = context;
  return { feedback: next?.feedback ?? feedback, elapsedMs: elapsed(context) + waitMs(context) };
}

type Args = { readonly context: AttemptState };

/** The policies of the attempt machine's guards, by name. */
const attemptGuards = {
  replyIsBroken: ({ event }: { event: unknown }): GuardResult => {
    const failure = (event as { reply?: Reply }).reply?.failure ?? null;
    return { holds: failure !== null, inputs: { code: failure?.code ?? null } };
  },
  costLimitReached: ({ context }: Args): GuardResult => callMayExceedCost(context),
  callIsUnderWay: ({ context }: Args): GuardResult => ({
    holds: context.failure === null,
    inputs: { attempts: context.execution.attempts.length },
  }),
  failureIsHopeless: ({ context }: Args): GuardResult => isHopeless(context.failure ?? NO_FAILURE),
  /** The user's own retry rule may decline a retry that the budgets allow. */
  retryIsAllowed: ({ context }: Args): GuardResult => {
    const { execution, failure, policy, next } = context;
    const { holds, inputs } = retryAllowed(execution, failure ?? NO_FAILURE, policy, elapsed(context), context);
    return { holds: holds && next !== null, inputs: { ...inputs, declined: holds && next === null } };
  },
  fallbackIsDue: ({ context }: Args): GuardResult => {
    const { execution, failure, policy } = context;
    return fallbackDue(execution, failure ?? NO_FAILURE, policy, elapsed(context), context);
  },
  policyGivesValue: ({ context: { final } }: Args): GuardResult => ({
    holds: final !== null,
    inputs: { given: final !== null },
  }),
  waitIsOver: ({ context }: Args): GuardResult => ({
    holds: waitMs(context) <= 0,
    inputs: { waitMs: waitMs(context) },
  }),
};

const base = setup({
  types: {
    context: {} as AttemptState,
    input: {} as AttemptInput,
    output: {} as AttemptOutcome,
    events: {} as AttemptEvent,
    emitted: {} as Extract<EmittedEvent, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' | 'model-status' }>,
  },
  actors: missingAttemptActors,
  guards: {
    ...guardsOf(attemptGuards),
    replyIsValid: (_, validation: Validation | undefined) => validation?.ok === true,
    replyIsUnvalidated: (_, { validation }: ReplyEnd) => validation === undefined,
  },
  delays: {
    firstChunkDeadline: ({ context }) => context.policy.firstChunkMs,
    stallDeadline: ({ context }) => stallMs(context.policy),
    totalDeadline: ({ context }) => context.policy.totalMs,
    backoff: ({ context }) => waitMs(context),
  },
});

export const attemptSetup = base.extend({
  actions: {
    reportUsage: enqueueActions(({ context, enqueue }) => {
      if (!context.hasParent) return;
      enqueue.sendParent({ type: 'usage.reported', ...usageInFlight(context) } satisfies UsageReport);
    }),
    reportModels: enqueueActions(({ context, enqueue }) => {
      const { hasParent, models, knownToParent } = context;
      if (!hasParent || models === knownToParent) return;
      enqueue.assign({ knownToParent: models });
      enqueue.sendParent({ type: 'models.learned', models } satisfies ModelsReport);
    }),
    emitModelStatus: enqueueActions(({ context, enqueue }) => {
      const { id, task, model, statusBefore, policy } = context;
      const change = modelChange(statusBefore, statusOf(context), policy);
      if (change !== null) enqueue.emit({ type: 'model-status', attemptId: id, task, model, change });
    }),
    assignProgress: assign((_, progress: CallProgress) => ({ progress: progressOf(progress) })),
    assignReply: assign(({ context }, event: ReplyEnd) => replied(context, event)),
    assignValue: assign(({ context }, validation: Validation) => {
      if (!validation.ok) return completed(context, null);
      const reply =
        context.reply && validation.repaired ? { ...context.reply, repaired: validation.repaired } : context.reply;
      return { reply, ...completed({ ...context, reply }, validation.value) };
    }),
    recordMismatch: assign((_, validation: Validation) => ({
      failure: validation.ok ? NO_FAILURE : validation.failure,
    })),
    recordError: assign((_, { error }: { error: unknown }) => ({ failure: unexpectedFailure(error) })),
    recordNotMade: assign(() => notMade()),
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
    finalize: assign(({ context }) => finalize(context, NO_HOOKS)),
    assignFinalValue: assign((_, validation: Validation) => ({
      value: validation.ok ? validation.value : null,
      failure: null,
    })),
    recordInvalidFinal: assign((_, validation: Validation) => ({
      final: null,
      failure: validation.ok ? NO_FAILURE : invalidFinalValue(validation.failure),
    })),
    recordLoss: assign(({ context }) => {
      const record = attemptRecord({ ...context, failure: LOST });
      const execution = recordAttempt(context.execution, record, context.policy.prices);
      return { execution, isInFlight: false, elapsedMs: elapsed({ ...context, execution }) };
    }),
    clearAttempt: assign(NEW_ATTEMPT),
    prepareRetry: assign(({ context }) => ({
      execution: retriesForm(context.statusBefore, context)
        ? context.execution
        : countRetry(context.execution, context.failure ?? NO_FAILURE),
      ...callAfter(context),
    })),
    prepareFallback: assign(({ context }) => ({
      execution: countFallback(context.execution),
      model: successor(context, context.policy) ?? context.model,
      gaveUp: [...context.gaveUp, context.model],
      ...callAfter(context),
    })),
    emitStart: emit(({ context }) => ({
      type: 'attempt-start' as const,
      attemptId: context.id,
      task: context.task,
      attempt: context.execution.attempts.length + 1,
      model: context.model,
      ...(context.phases && { phases: [...context.phases] }),
    })),
    emitEnd: emit(({ context }) => {
      const { failure = null, repaired } = context.execution.attempts.at(-1) ?? {};
      const call = currentCall(context);
      const usage = callUsage(call);
      return {
        type: 'attempt-end' as const,
        attemptId: context.id,
        task: context.task,
        attempt: context.execution.attempts.length,
        failure,
        usage,
        ...(call.price && { cost: costOf(usage, call.price).cost }),
        ...(repaired && { repaired }),
      };
    }),
    emitRetry: emit(({ context }) => ({
      type: 'attempt-retry' as const,
      attemptId: context.id,
      attempt: context.execution.attempts.length + 1,
      model: context.model,
      delayMs: waitMs(context),
    })),
  },
});
