import { assign, emit, setup } from 'xstate';
import type { AttemptExecution, AttemptOutcome } from '../contracts/attempt.ts';
import type { AttemptPolicy } from '../contracts/attempt-policy.ts';
import type { CapabilityCall, CapabilityResult, Continuation, StopReason } from '../contracts/capability.ts';
import type { Failure } from '../contracts/failure.ts';
import type { ChainFact } from '../contracts/journal-entry.ts';
import type { ActionReply } from '../contracts/phases/action.ts';
import type { PhaseInput } from '../contracts/phases/input.ts';
import type { Verdict } from '../contracts/verdict.ts';
import { guardsOf } from '../guards.ts';
import {
  capabilityKnown,
  continuationLimit,
  nothingToRun,
  readContinuation,
  synthesizeLast,
} from '../policies/capability-loop.ts';
import { unexpectedFailure } from '../policies/failures.ts';
import { newExecution } from '../policies/retry.ts';
import { type ArgumentsCheck, actionPorts } from './ports.ts';

export interface ActionInput {
  readonly id: string;
  readonly input: Extract<PhaseInput, { phase: 'action' }>;
  readonly policy: AttemptPolicy;
  readonly hasDecider: boolean;
  readonly maxContinuations: number;
  readonly capabilityMs: number;
}

/** JSON, all of it. `call` is the step wished next, `checked` its arguments once they are known to fit. */
export interface ActionContext extends ActionInput {
  readonly reply: ActionReply | null;
  readonly call: CapabilityCall | null;
  readonly checked: Record<string, unknown>;
  readonly results: readonly CapabilityResult[];
  readonly continuation: Continuation | null;
  readonly stopReason: StopReason;
  /** What was wrong with the next step or the decider, in words [R5]. */
  readonly problem: string | null;
  readonly failure: Failure | null;
  readonly execution: AttemptExecution;
}

type ActionFact = Extract<ChainFact, { type: 'capability-start' | 'capability-end' | 'capability-stop' }>;
type Args = { context: ActionContext };

export function startAction(input: ActionInput): ActionContext {
  return {
    ...input,
    reply: null,
    call: null,
    checked: {},
    results: [],
    continuation: null,
    stopReason: 'nothing_to_run',
    problem: null,
    failure: null,
    execution: newExecution({ id: input.id, task: 'action' }),
  };
}

export const actionVerdicts = {
  nothingToRun: ({ context }: Args): Verdict => nothingToRun(context.call),
  capabilityKnown: ({ context }: Args): Verdict => capabilityKnown(context.call, context.input.capabilities),
  hasDecider: ({ context }: Args): Verdict => ({
    holds: context.hasDecider,
    inputs: { hasDecider: context.hasDecider },
  }),
  continuationUnreadable: ({ context }: Args): Verdict => ({
    holds: context.continuation === null,
    inputs: { problem: context.problem },
  }),
  isDone: ({ context }: Args): Verdict => ({
    holds: context.continuation?.done === true,
    inputs: { done: context.continuation?.done ?? null },
  }),
  continuationLimitReached: ({ context }: Args): Verdict =>
    continuationLimit(context.results, context.maxContinuations),
};

export const actionSetup = setup({
  types: {
    context: {} as ActionContext,
    input: {} as ActionInput,
    output: {} as AttemptOutcome,
    emitted: {} as ActionFact,
  },
  actors: actionPorts,
  guards: {
    attemptSucceeded: (_, { ok }: AttemptOutcome) => ok,
    argumentsFit: (_, { ok }: ArgumentsCheck) => ok,
    ...guardsOf(actionVerdicts),
  },
  delays: { capabilityDeadline: ({ context }) => context.capabilityMs },
  actions: {
    takeOutcome: assign((_, outcome: AttemptOutcome) =>
      outcome.ok
        ? {
            reply: outcome.value as ActionReply,
            call: (outcome.value as ActionReply).call,
            execution: outcome.execution,
          }
        : { failure: outcome.failure, execution: outcome.execution },
    ),
    takeError: assign((_, { error }: { error: unknown }) => ({ failure: unexpectedFailure(error) })),
    takeArguments: assign((_, check: ArgumentsCheck) =>
      check.ok ? { checked: check.arguments } : { problem: check.problem },
    ),
    takeResult: assign(({ context }, { result }: { result: CapabilityResult }) => ({
      results: [...context.results, result],
    })),
    noteTimeout: assign(({ context }) => ({
      results: [
        ...context.results,
        brokenResult(context, `no result within ${context.capabilityMs} ms`, context.capabilityMs),
      ],
    })),
    noteThrown: assign(({ context }, { error }: { error: unknown }) => ({
      results: [...context.results, brokenResult(context, unexpectedFailure(error).message, 0)],
    })),
    takeContinuation: assign((_, { said }: { said: unknown }) => readContinuation(said)),
    takeFinalOutput: assign(({ context }) => ({
      results: synthesizeLast(context.results, context.continuation?.done ? context.continuation.finalOutput : null),
    })),
    noteStop: assign((_, { reason }: { reason: StopReason }) => ({ stopReason: reason })),
    noteUnknown: assign(({ context }) => ({ problem: `there is no capability "${context.call?.capability ?? ''}"` })),
    noteProblem: assign((_, { error }: { error: unknown }) => ({ problem: unexpectedFailure(error).message })),
    noteLateDecider: assign(({ context }) => ({
      problem: `the decider said nothing within ${context.capabilityMs} ms`,
    })),
    announceRun: emit(({ context }) => ({
      type: 'capability-start' as const,
      capability: context.call?.capability ?? '',
      index: context.results.length + 1,
    })),
    announceStop: emit(({ context }) => ({
      type: 'capability-stop' as const,
      reason: context.stopReason,
      runs: context.results.length,
      problem: context.problem,
    })),
    announceResult: emit(({ context }) => ({
      type: 'capability-end' as const,
      index: context.results.length,
      result: context.results.at(-1) ?? brokenResult(context, 'no result', 0),
    })),
  },
});

function brokenResult({ call, checked }: ActionContext, error: string, durationMs: number): CapabilityResult {
  const capability = call?.capability ?? '';
  const base = { capability, arguments: checked, success: false, output: '', synthesized: false, startedAtMs: null };
  return { ...base, error, durationMs };
}

/** What the machine ends with: the value is an ActionResult without its `phase`. */
export function actionOutcome({ reply, results, stopReason, failure, execution }: ActionContext): AttemptOutcome {
  return failure === null
    ? { ok: true, value: { reply, results, stopReason }, execution }
    : { ok: false, failure, execution };
}
