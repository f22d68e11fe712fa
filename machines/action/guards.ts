import type { ActionState } from '../contracts/action-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import {
  continuationLimitReached,
  isFirstStep,
  modelMayDecide,
  nextStepInvalid,
  nothingToContinue,
  nothingToRun,
} from '../policies/capability-loop.ts';

type Args = { readonly context: ActionState };

/** The policies of the capability loop's guards, by name. */
export const actionGuards = {
  stepGiven: ({ context: { call } }: Args): GuardResult => ({
    holds: call !== null,
    inputs: { capability: call?.capability ?? null },
  }),
  notClassified: ({ context: { reply } }: Args): GuardResult => ({
    holds: reply === null,
    inputs: { classified: reply !== null },
  }),
  nothingToContinue: ({ context }: Args): GuardResult => nothingToContinue(context),
  nothingToRun: ({ context }: Args): GuardResult => nothingToRun(context),
  nextStepInvalid: ({ context }: Args): GuardResult => nextStepInvalid(context),
  isFirstStep: ({ context }: Args): GuardResult => isFirstStep(context),
  hasDecider: ({ context: { decider } }: Args): GuardResult => ({ holds: decider !== 'none', inputs: { decider } }),
  functionDecides: ({ context: { decider } }: Args): GuardResult => ({
    holds: decider === 'function' || decider === 'noop',
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
