import type { ActionState } from '../contracts/action-state.ts';
import type { ApprovalAnswer } from '../contracts/capability.ts';
import type { GuardResult } from '../contracts/decision.ts';
import { approvalFits, approvalPending, editsPending, programApproves } from '../policies/approvals.ts';
import {
  callsLeftOver,
  callWaits,
  continuationLimitReached,
  isFirstStep,
  modelMayDecide,
  namesOf,
  nextStepInvalid,
  nothingToContinue,
  nothingToRun,
  sameCallRepeated,
} from '../policies/capability-loop.ts';

type Args = { readonly context: ActionState };

/** The policies of the capability loop's guards, by name. */
export const actionGuards = {
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
