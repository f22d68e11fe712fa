import { assign, cancel, emit, enqueueActions, setup } from 'xstate';
import type { ActionInput, ActionState, LoopReport } from '../contracts/action-state.ts';
import type { AttemptOutcome, ModelsReport, UsageReport } from '../contracts/attempt.ts';
import type {
  ApprovalAnswer,
  ArgumentsCheck,
  CapabilityCall,
  CapabilityRunResult,
  StopReason,
} from '../contracts/capability.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { CallApprovalGiven } from '../contracts/events.ts';
import { newModels } from '../contracts/model-status.ts';
import type { ActionReply } from '../contracts/phase-io.ts';
import { guardsOf } from '../guards.ts';
import {
  answerApproval,
  answerByProgram,
  applyEdits,
  approvalFits,
  approvalPending,
  editsPending,
  programApproves,
  timeOutApprovals,
} from '../policies/approvals.ts';
import {
  beginStep,
  callIn,
  callsLeftOver,
  callWaits,
  continuationLimitReached,
  endCall,
  failCall,
  invalidStep,
  isFirstStep,
  lastStarted,
  loopResult,
  modelMayDecide,
  namesOf,
  nextStepInvalid,
  nothingToContinue,
  nothingToRun,
  recordStep,
  repeatProblem,
  requestedBefore,
  runMs,
  sameCallRepeated,
  schemaMs,
  startCall,
  stepProblem,
} from '../policies/capability-loop.ts';
import { joinExecutions, readContinuation, synthesizeLast } from '../policies/continuation.ts';
import { unexpectedFailure } from '../policies/failures.ts';
import { newExecution } from '../policies/retry.ts';
import { toolNamed } from '../policies/tool-names.ts';
import { addUsage, NOTHING_USED, usageSoFar } from '../policies/usage.ts';
import { missingActionActors } from './actors.ts';
import {
  type ActionEmittedEvent,
  actionEmittedEvents,
  approvalDecisions,
  approvalQuestions,
  callEnds,
  refusedApproval,
} from './emitted-events.ts';

type Thrown = { readonly error: unknown };

/** One of the slots in which the calls of a step run, from 1. */
type InSlot = { readonly slot: number };

type Checks = { readonly checks: readonly ArgumentsCheck[] };

export function initialActionState({ earlier, ...input }: ActionInput): ActionState {
  return {
    ...input,
    calls: named(input.calls, input.input.capabilities),
    models: input.models ?? newModels(input.policy.maxFallbacks),
    hasParent: input.hasParent ?? false,
    reply: earlier?.reply ?? null,
    prose: earlier?.prose ?? false,
    step: [],
    requested: requestedBefore(earlier?.results ?? []),
    asked: 0,
    begun: earlier?.runs ?? 0,
    runs: earlier?.runs ?? 0,
    results: earlier?.results ?? [],
    memory: earlier?.memory ?? [],
    continuation: null,
    stopReason: 'nothing_to_run',
    problem: null,
    failure: null,
    execution: newExecution({ id: input.id, task: 'action' }),
    usageInFlight: NOTHING_USED,
  };
}

/** Returns calls of a model with the names of the capabilities that they mean, which are those that are approved and run. */
function named(calls: readonly CapabilityCall[], capabilities: Capabilities): readonly CapabilityCall[] {
  const names = capabilities.map(({ name }) => name);
  return calls.map((call) => ({ ...call, capability: toolNamed(call.capability, names) }));
}

type Capabilities = ActionState['input']['capabilities'];

function withNames(
  { calls, ...read }: ReturnType<typeof readContinuation>,
  capabilities: Capabilities,
): ReturnType<typeof readContinuation> {
  return { ...read, calls: named(calls, capabilities) };
}

/** Charges the call in flight. If a call failed with an error, its usage is known only from its reports. */
function chargeInFlight({ execution, usageInFlight }: ActionState): Pick<ActionState, 'execution' | 'usageInFlight'> {
  const usage = addUsage(execution.usage, usageSoFar(usageInFlight));
  return { execution: { ...execution, usage }, usageInFlight: NOTHING_USED };
}

type Args = { readonly context: ActionState };

/** The policies of the capability loop's guards, by name. */
const actionGuards = {
  stepGiven: ({ context: { calls } }: Args): GuardResult => ({
    holds: calls.length > 0,
    inputs: { capability: namesOf(calls) },
  }),
  notClassified: ({ context: { reply } }: Args): GuardResult => ({
    holds: reply === null,
    inputs: { classified: reply !== null },
  }),
  nothingToContinue: ({ context }: Args): GuardResult => nothingToContinue(context),
  nothingToRun: ({ context }: Args): GuardResult => nothingToRun(context),
  nextStepInvalid: ({ context }: Args): GuardResult => nextStepInvalid(context),
  sameCallRepeated: ({ context }: Args): GuardResult => sameCallRepeated(context),
  programApproves: ({ context }: Args): GuardResult => programApproves(context),
  approvalPending: ({ context }: Args): GuardResult => approvalPending(context),
  allAnswered: ({ context }: Args): GuardResult => {
    const { holds, inputs } = approvalPending(context);
    return { holds: !holds, inputs };
  },
  approvalFits: ({ context }: Args, answer: ApprovalAnswer): GuardResult => approvalFits(context, answer),
  editsPending: ({ context }: Args): GuardResult => editsPending(context),
  callWaits: ({ context }: Args, { slot }: { readonly slot: number }): GuardResult => callWaits(context, slot),
  callsLeftOver: ({ context }: Args): GuardResult => callsLeftOver(context),
  isFirstStep: ({ context }: Args): GuardResult => isFirstStep(context),
  hasDecider: ({ context: { decider } }: Args): GuardResult => ({ holds: decider !== 'none', inputs: { decider } }),
  functionDecides: ({ context: { decider } }: Args): GuardResult => ({
    holds: decider === 'function',
    inputs: { decider },
  }),
  modelMayDecide: ({ context }: Args): GuardResult => modelMayDecide(context),
  continuationUnreadable: ({ context: { continuation, problem } }: Args): GuardResult => ({
    holds: continuation === null,
    inputs: { problem: problem?.message ?? null },
  }),
  isDone: ({ context: { continuation } }: Args): GuardResult => ({
    holds: continuation?.done === true,
    inputs: { done: continuation?.done ?? null },
  }),
  continuationLimitReached: ({ context }: Args): GuardResult => continuationLimitReached(context),
};

const base = setup({
  types: {
    context: {} as ActionState,
    input: {} as ActionInput,
    output: {} as AttemptOutcome,
    events: {} as UsageReport | ModelsReport | CallApprovalGiven | { readonly type: 'approval.expired' },
    emitted: {} as ActionEmittedEvent,
  },
  actors: missingActionActors,
  guards: {
    attemptSucceeded: (_, { ok }: AttemptOutcome) => ok,
    argumentsFit: (_, { checks }: Checks) => checks.some(({ ok }) => ok),
    ...guardsOf(actionGuards),
  },
  delays: {
    /** The time limit of the call that started last. A slot that is entered has just started its call. */
    capabilityDeadline: ({ context }) => runMs(context, lastStarted(context)),
    answerDeadline: ({ context }) => context.capabilityMs,
    schemaDeadline: ({ context }) => schemaMs(context),
  },
});

interface Enqueuer {
  readonly context: ActionState;
  readonly enqueue: {
    readonly assign: (changes: Partial<ActionState>) => void;
    readonly emit: (event: ActionEmittedEvent) => void;
  };
}

/** Returns an `enqueueActions` callback that assigns the decisions of a policy and emits them. */
function decideApprovals<Params>(decide: (state: ActionState, params: Params) => Partial<ActionState>) {
  return ({ context, enqueue }: Enqueuer, params: Params): void => {
    const changes = decide(context, params);
    enqueue.assign(changes);
    for (const event of approvalDecisions(context, { ...context, ...changes })) enqueue.emit(event);
  };
}

const APPROVAL_DEADLINE = 'approvalDeadline';

export const actionSetup = base.extend({
  actions: {
    assignUsageInFlight: assign((_, { finished, call }: UsageReport) => ({ usageInFlight: { finished, call } })),
    reportUsage: enqueueActions(({ context, enqueue }) => {
      if (!context.hasParent) return;
      const { execution, usageInFlight } = context;
      const finished = addUsage(execution.usage, usageInFlight.finished);
      enqueue.sendParent({ type: 'usage.reported', finished, call: usageInFlight.call } satisfies LoopReport);
    }),
    assignModels: assign((_, { models }: ModelsReport) => ({ models })),
    reportModels: enqueueActions(({ context: { hasParent, models }, enqueue }) => {
      if (hasParent) enqueue.sendParent({ type: 'models.learned', models } satisfies LoopReport);
    }),
    reportProgress: enqueueActions(({ context, enqueue }) => {
      if (context.hasParent) enqueue.sendParent({ type: 'loop.progressed', loop: context } satisfies LoopReport);
    }),
    assignReply: assign(({ context }, { execution, ...outcome }: AttemptOutcome) => {
      const charged = { execution, usageInFlight: NOTHING_USED };
      if (!outcome.ok) return { failure: outcome.failure, ...charged };
      const reply = outcome.value as ActionReply;
      const calls = named(reply.calls, context.input.capabilities);
      return { reply, calls, prose: outcome.prose, ...charged };
    }),
    recordError: assign(({ context }, { error }: Thrown) => ({
      failure: unexpectedFailure(error),
      ...chargeInFlight(context),
    })),
    recordInvalidStep: assign(({ context }) => ({ problem: stepProblem(context) })),
    recordRepeat: assign(({ context }) => ({ problem: repeatProblem(context) })),
    beginStep: assign(({ context }, { checks }: Checks) => beginStep(context, checks)),
    recordMismatch: assign((_, { checks }: Checks) => {
      const [check] = checks;
      return { problem: check === undefined || check.ok ? null : { code: check.code, message: check.problem } };
    }),
    recordSchemaError: assign((_, { error }: Thrown) => ({
      problem: { code: 'arguments_misfit' as const, message: unexpectedFailure(error).message },
    })),
    recordSchemaTimeout: assign(({ context }) => ({
      problem: {
        code: 'arguments_misfit' as const,
        message: `the schema did not validate the arguments within ${context.capabilityMs} ms`,
      },
    })),
    askForApproval: enqueueActions(({ context, enqueue }) => {
      for (const question of approvalQuestions(context)) enqueue.emit(question);
    }),
    startApprovalDeadline: enqueueActions(({ context: { approvalMs }, enqueue }) => {
      if (approvalMs !== null)
        enqueue.raise({ type: 'approval.expired' }, { id: APPROVAL_DEADLINE, delay: approvalMs });
    }),
    stopApprovalDeadline: cancel(APPROVAL_DEADLINE),
    answerApproval: enqueueActions(decideApprovals(answerApproval)),
    emitApprovalRefused: emit(({ context }, answer: ApprovalAnswer) => refusedApproval(context, answer)),
    timeOutApprovals: enqueueActions(decideApprovals(timeOutApprovals)),
    answerByProgram: enqueueActions(
      decideApprovals((state, { answers, problem }: { answers: readonly ApprovalAnswer[]; problem: string }) =>
        answerByProgram(state, answers, problem),
      ),
    ),
    applyEdits: enqueueActions(
      decideApprovals((state, { checks, problem }: Checks & { problem: string }) => applyEdits(state, checks, problem)),
    ),
    clearStep: assign({ calls: [], problem: null }),
    endInvalidCalls: assign(({ context }) => ({
      calls: [],
      step: context.step.length > 0 ? context.step : invalidStep(context),
    })),
    dropStep: assign({ calls: [], step: [] }),
    startCall: assign(({ context }, { slot }: InSlot) => startCall(context, slot)),
    endCall: assign(({ context }, { slot, result }: InSlot & { result: CapabilityRunResult }) =>
      endCall(context, slot, result),
    ),
    failCall: assign(({ context }, { slot, error }: InSlot & Thrown) =>
      failCall(context, slot, { code: 'threw', error: unexpectedFailure(error).message }),
    ),
    endCallAtTimeout: assign(({ context }, { slot }: InSlot) => {
      const ms = runMs(context, callIn(context, slot));
      return failCall(context, slot, { code: 'timed_out', error: `no result within ${ms} ms`, durationMs: ms });
    }),
    recordStep: assign(({ context }) => recordStep(context)),
    assignContinuation: assign((_, { reply }: { reply: unknown }) => readContinuation(reply)),
    assignContinuationOutcome: assign(({ context }, { execution, ...outcome }: AttemptOutcome) => ({
      execution: joinExecutions(context.execution, execution),
      usageInFlight: NOTHING_USED,
      ...(outcome.ok
        ? withNames(readContinuation(outcome.value), context.input.capabilities)
        : { problem: { code: null, message: `${outcome.failure.code}: ${outcome.failure.message}` } }),
    })),
    assignFinalOutput: assign(({ context }) => ({ results: synthesizeLast(context.results, context.continuation) })),
    recordStop: assign((_, { reason }: { reason: StopReason }) => ({ stopReason: reason })),
    recordDeciderError: assign(({ context }, { error }: Thrown) => ({
      problem: { code: null, message: unexpectedFailure(error).message },
      ...chargeInFlight(context),
    })),
    recordDeciderTimeout: assign(({ context }) => ({
      problem: { code: null, message: `the decider did not reply within ${context.capabilityMs} ms` },
    })),
    emitCallStart: emit(({ context }, { slot }: InSlot) => actionEmittedEvents.start(context, slot)),
    emitCallEnd: enqueueActions(({ context, enqueue }, { slot }: InSlot) => {
      const ended = callIn(context, slot);
      for (const event of callEnds(context, (call) => call === ended)) enqueue.emit(event);
    }),
    emitInvalidCalls: enqueueActions(({ context, enqueue }) => {
      for (const event of callEnds(context, ({ id }) => id === null)) enqueue.emit(event);
    }),
    emitContinuation: emit(({ context }) => actionEmittedEvents.continuation(context)),
    emitStop: emit(({ context }) => actionEmittedEvents.stop(context)),
  },
});

/** Returns what the machine ends with: the value is an `ActionResult` without its `phase` and `step`. */
export function actionOutcome(state: ActionState): AttemptOutcome {
  const { failure, execution, prose } = state;
  return failure === null
    ? { ok: true, value: loopResult(state), execution, prose }
    : { ok: false, failure, execution };
}
