import type { ActionState } from '../contracts/action-state.ts';
import type { Verdict } from '../contracts/verdict.ts';
import {
  continuationLimitReached,
  isFirstStep,
  modelMayDecide,
  nextStepInvalid,
  nothingToRun,
} from '../policies/capability-loop/steps.ts';

type Args = { readonly context: ActionState };

/** The guards of the capability loop by name, each one line to its policy. */
export const actionVerdicts = {
  stepGiven: ({ context: { call } }: Args): Verdict => ({
    holds: call !== null,
    inputs: { capability: call?.capability ?? null },
  }),
  nothingToRun: ({ context }: Args): Verdict => nothingToRun(context),
  nextStepInvalid: ({ context }: Args): Verdict => nextStepInvalid(context),
  isFirstStep: ({ context }: Args): Verdict => isFirstStep(context),
  hasDecider: ({ context: { decider } }: Args): Verdict => ({ holds: decider !== 'none', inputs: { decider } }),
  functionDecides: ({ context: { decider } }: Args): Verdict => ({
    holds: decider === 'function',
    inputs: { decider },
  }),
  modelMayDecide: ({ context }: Args): Verdict => modelMayDecide(context),
  continuationUnreadable: ({ context: { continuation, problem } }: Args): Verdict => ({
    holds: continuation === null,
    inputs: { problem: problem?.message ?? null },
  }),
  isDone: ({ context: { continuation } }: Args): Verdict => ({
    holds: continuation?.done === true,
    inputs: { done: continuation?.done ?? null },
  }),
  continuationLimitReached: ({ context }: Args): Verdict => continuationLimitReached(context),
};
