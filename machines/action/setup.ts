import { assign, emit, enqueueActions, setup } from 'xstate';
import type { ActionInput, ActionState, LoopReport } from '../contracts/action-state.ts';
import type { AttemptOutcome, ModelsReport, UsageReport } from '../contracts/attempt.ts';
import type { ArgumentsCheck, CapabilityResult, StopReason } from '../contracts/capability.ts';
import type { ActionReply } from '../contracts/phase-io.ts';
import { guardsOf } from '../guards.ts';
import {
  appendMemory,
  appendResult,
  failedResult,
  loopResult,
  runMs,
  stepProblem,
} from '../policies/capability-loop.ts';
import { joinExecutions, readContinuation, synthesizeLast } from '../policies/continuation.ts';
import { unexpectedFailure } from '../policies/failures.ts';
import { newModels } from '../policies/model-status.ts';
import { newExecution } from '../policies/retry.ts';
import { addUsage, NOTHING_USED, usageSoFar } from '../policies/usage.ts';
import { missingActionActors } from './actors.ts';
import { type ActionEmittedEvent, actionEmittedEvents } from './emitted-events.ts';
import { actionGuards } from './guards.ts';

type Thrown = { readonly error: unknown };

export function initialActionState({ earlier, ...input }: ActionInput): ActionState {
  return {
    ...input,
    models: input.models ?? newModels(input.policy.maxFallbacks),
    hasParent: input.hasParent ?? false,
    reply: earlier?.reply ?? null,
    prose: earlier?.prose ?? false,
    checked: {},
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

/** Charges the call in flight. If a call failed with an error, its usage is known only from its reports. */
function chargeInFlight({ execution, usageInFlight }: ActionState): Pick<ActionState, 'execution' | 'usageInFlight'> {
  const usage = addUsage(execution.usage, usageSoFar(usageInFlight));
  return { execution: { ...execution, usage }, usageInFlight: NOTHING_USED };
}

const vocabulary = setup({
  types: {
    context: {} as ActionState,
    input: {} as ActionInput,
    output: {} as AttemptOutcome,
    events: {} as UsageReport | ModelsReport,
    emitted: {} as ActionEmittedEvent,
  },
  actors: missingActionActors,
  guards: {
    attemptSucceeded: (_, { ok }: AttemptOutcome) => ok,
    argumentsFit: (_, { ok }: ArgumentsCheck) => ok,
    ...guardsOf(actionGuards),
  },
  delays: {
    capabilityDeadline: ({ context }) => runMs(context),
    answerDeadline: ({ context }) => context.capabilityMs,
  },
});

export const actionSetup = vocabulary.extend({
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
    assignReply: assign((_, { execution, ...outcome }: AttemptOutcome) => {
      const charged = { execution, usageInFlight: NOTHING_USED };
      if (!outcome.ok) return { failure: outcome.failure, ...charged };
      const reply = outcome.value as ActionReply;
      return { reply, call: reply.call, prose: outcome.prose, ...charged };
    }),
    recordError: assign(({ context }, { error }: Thrown) => ({
      failure: unexpectedFailure(error),
      ...chargeInFlight(context),
    })),
    recordInvalidStep: assign(({ context }) => ({ problem: stepProblem(context) })),
    assignArguments: assign((_, check: ArgumentsCheck) => ({ checked: check.ok ? check.arguments : {} })),
    recordMismatch: assign((_, check: ArgumentsCheck) => ({
      problem: check.ok ? null : { code: check.code, message: check.problem },
    })),
    recordSchemaError: assign((_, { error }: Thrown) => ({
      problem: { code: 'arguments_misfit' as const, message: unexpectedFailure(error).message },
    })),
    recordSchemaTimeout: assign(({ context }) => ({
      problem: {
        code: 'arguments_misfit' as const,
        message: `the schema did not validate the arguments within ${context.capabilityMs} ms`,
      },
    })),
    clearStep: assign({ call: null, problem: null }),
    recordInvalidCall: assign(({ context }) => {
      const { code, message } = context.problem ?? {};
      const invalid = { ...context, checked: {} };
      return { results: [failedResult(invalid, code ?? 'unknown_capability', message ?? '', 0)] };
    }),
    startRun: assign(({ context: { runs } }) => ({ begun: runs + 1 })),
    assignResult: assign(({ context }, { result }: { result: CapabilityResult }) => appendResult(context, result)),
    recordRunTimeout: assign(({ context }) => {
      const ms = runMs(context);
      return appendResult(context, failedResult(context, 'timed_out', `no result within ${ms} ms`, ms));
    }),
    recordRunError: assign(({ context }, { error }: Thrown) =>
      appendResult(context, failedResult(context, 'threw', unexpectedFailure(error).message, 0)),
    ),
    appendMemory: assign(({ context }) => ({ memory: appendMemory(context) })),
    assignContinuation: assign((_, { reply }: { reply: unknown }) => readContinuation(reply)),
    assignContinuationOutcome: assign(({ context }, { execution, ...outcome }: AttemptOutcome) => ({
      execution: joinExecutions(context.execution, execution),
      usageInFlight: NOTHING_USED,
      ...(outcome.ok
        ? readContinuation(outcome.value)
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
    emitRunStart: emit(({ context }) => actionEmittedEvents.start(context)),
    emitRunEnd: emit(({ context }) => actionEmittedEvents.end(context)),
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
