import { assign, emit, setup } from 'xstate';
import type { ActionInput, ActionState } from '../contracts/action-state.ts';
import type { AttemptOutcome } from '../contracts/attempt.ts';
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
import { newExecution } from '../policies/retry.ts';
import { type ActionEmittedEvent, actionEmittedEvents } from './emitted-events.ts';
import { actionGuards } from './guards.ts';
import { actionPorts } from './ports.ts';

type Thrown = { readonly error: unknown };

export function startAction(input: ActionInput): ActionState {
  return {
    ...input,
    reply: null,
    checked: {},
    begun: 0,
    runs: 0,
    results: [],
    memory: [],
    continuation: null,
    stopReason: 'nothing_to_run',
    problem: null,
    failure: null,
    execution: newExecution({ id: input.id, task: 'action' }),
  };
}

/** The chart's vocabulary: every name that `action.machine.ts` uses, each a line to a policy. */
export const actionSetup = setup({
  types: {
    context: {} as ActionState,
    input: {} as ActionInput,
    output: {} as AttemptOutcome,
    emitted: {} as ActionEmittedEvent,
  },
  actors: actionPorts,
  guards: {
    attemptSucceeded: (_, { ok }: AttemptOutcome) => ok,
    argumentsFit: (_, { ok }: ArgumentsCheck) => ok,
    ...guardsOf(actionGuards),
  },
  delays: {
    capabilityDeadline: ({ context }) => runMs(context),
    answerDeadline: ({ context }) => context.capabilityMs,
  },
  actions: {
    takeReply: assign((_, { execution, ...outcome }: AttemptOutcome) => {
      if (!outcome.ok) return { failure: outcome.failure, execution };
      const reply = outcome.value as ActionReply;
      return { reply, call: reply.call, execution };
    }),
    takeError: assign((_, { error }: Thrown) => ({ failure: unexpectedFailure(error) })),
    noteInvalidStep: assign(({ context }) => ({ problem: stepProblem(context) })),
    takeArguments: assign((_, check: ArgumentsCheck) => ({ checked: check.ok ? check.arguments : {} })),
    takeMisfit: assign((_, check: ArgumentsCheck) => ({
      problem: check.ok ? null : { code: check.code, message: check.problem },
    })),
    noteBrokenSchema: assign((_, { error }: Thrown) => ({
      problem: { code: 'arguments_misfit' as const, message: unexpectedFailure(error).message },
    })),
    noteLateSchema: assign(({ context }) => ({
      problem: {
        code: 'arguments_misfit' as const,
        message: `the schema did not say within ${context.capabilityMs} ms whether the arguments fit`,
      },
    })),
    forgetStep: assign({ call: null, problem: null }),
    takeRefusal: assign(({ context }) => {
      const { code, message } = context.problem ?? {};
      const refused = { ...context, checked: {} };
      return { results: [failedResult(refused, code ?? 'unknown_capability', message ?? '', 0)] };
    }),
    beginRun: assign(({ context: { runs } }) => ({ begun: runs + 1 })),
    takeResult: assign(({ context }, { result }: { result: CapabilityResult }) => appendResult(context, result)),
    noteTimeout: assign(({ context }) => {
      const ms = runMs(context);
      return appendResult(context, failedResult(context, 'timed_out', `no result within ${ms} ms`, ms));
    }),
    noteThrown: assign(({ context }, { error }: Thrown) =>
      appendResult(context, failedResult(context, 'threw', unexpectedFailure(error).message, 0)),
    ),
    appendMemory: assign(({ context }) => ({ memory: appendMemory(context) })),
    takeContinuation: assign((_, { said }: { said: unknown }) => readContinuation(said)),
    takeThought: assign(({ context }, { execution, ...outcome }: AttemptOutcome) => ({
      execution: joinExecutions(context.execution, execution),
      ...(outcome.ok
        ? readContinuation(outcome.value)
        : { problem: { code: null, message: `${outcome.failure.code}: ${outcome.failure.message}` } }),
    })),
    takeFinalOutput: assign(({ context }) => ({ results: synthesizeLast(context.results, context.continuation) })),
    noteStop: assign((_, { reason }: { reason: StopReason }) => ({ stopReason: reason })),
    noteProblem: assign((_, { error }: Thrown) => ({
      problem: { code: null, message: unexpectedFailure(error).message },
    })),
    noteLateDecider: assign(({ context }) => ({
      problem: { code: null, message: `the decider said nothing within ${context.capabilityMs} ms` },
    })),
    announceRun: emit(({ context }) => actionEmittedEvents.start(context)),
    announceResult: emit(({ context }) => actionEmittedEvents.end(context)),
    announceContinuation: emit(({ context }) => actionEmittedEvents.continuation(context)),
    announceStop: emit(({ context }) => actionEmittedEvents.stop(context)),
  },
});

/** What the machine ends with: the value is an ActionResult without its `phase` and `step`. */
export function actionOutcome(state: ActionState): AttemptOutcome {
  const { failure, execution } = state;
  return failure === null ? { ok: true, value: loopResult(state), execution } : { ok: false, failure, execution };
}
