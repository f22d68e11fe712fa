import type { LoopReport } from '../contracts/action-state.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Phase } from '../contracts/phase.ts';
import { awaitsApproval } from '../policies/approvals.ts';
import { gradingWanted } from '../policies/assessment.ts';
import { consentDecided, consentNeeded, consentSettled } from '../policies/consent.ts';
import {
  costLimitReached,
  modelUnavailable,
  phaseMayBeSkipped,
  phaseMayRepeat,
  phaseSaved,
  ratingsAreKnown,
  replyIsKnown,
} from '../policies/outcomes.ts';
import { answersInOneCall, callIsDue, contextMustShrink, modelMayRate } from '../policies/phase-calls.ts';
import { isPhase, proposes, visibleMessages } from '../policies/progress.ts';
import {
  answerFits,
  type Direction,
  directionFits,
  directionPossible,
  type UserAnswer,
} from '../policies/questions.ts';
import { searchHasFailed, searchIsDone, sourceMayRecover } from '../policies/search.ts';
import { hasSession, recallWanted } from '../policies/session.ts';
import { valueMayBeStated } from '../policies/synthesis/value.ts';
import { answerIsFinal, modelMayWrite } from '../policies/synthesis/writing.ts';
import { measuringPays, summariesWanted } from '../policies/understanding.ts';
import { budgetExhausted, comparisonWanted, YIELD_RULES, type YieldRule } from '../policies/yield-rules.ts';

type LoopProgress = Extract<LoopReport, { type: 'loop.progressed' }>;

type Args = { readonly context: ChainState };

const ruleGuards = Object.fromEntries(
  (Object.keys(YIELD_RULES) as YieldRule[]).map((rule) => [
    rule,
    ({ context }: Args) => YIELD_RULES[rule].evaluate(context),
  ]),
) as Readonly<Record<YieldRule, (args: Args) => GuardResult>>;

/** The policies of the chain's guards, by name. A guard returns `holds`; the journal also records the compared values. */
export const chainGuards = {
  ...ruleGuards,
  budgetSpent: ({ context }: Args): GuardResult => budgetExhausted(context),
  directionWanted: ({ context: { recursion } }: Args): GuardResult => ({
    holds: recursion.mode === 'manual',
    inputs: { mode: recursion.mode },
  }),
  nextPhaseIs: ({ context }: Args, { phase }: { phase: Phase }): GuardResult =>
    proposes(context.assessment?.proposal ?? '', phase),
  nextPhaseInvalid: ({ context: { assessment } }: Args): GuardResult => {
    const proposal = assessment?.proposal ?? '';
    return { holds: !isPhase(proposal), inputs: { proposal } };
  },
  searchIsDone: ({ context }: Args): GuardResult => searchIsDone(context),
  searchHasFailed: ({ context }: Args): GuardResult => searchHasFailed(context),
  answersInOneCall: ({ context }: Args): GuardResult => answersInOneCall(context),
  callIsDue: ({ context }: Args): GuardResult => callIsDue(context),
  replyIsKnown: ({ context }: Args): GuardResult => replyIsKnown(context),
  ratingsAreKnown: ({ context }: Args): GuardResult => ratingsAreKnown(context),
  directedTo: ({ context }: Args, { phase }: { phase: Phase }): GuardResult => proposes(context.direction, phase),
  directionFits: ({ context }: Args, direction: Direction): GuardResult => directionFits(context, direction),
  awaitsApproval: (_: Args, { loop }: LoopProgress): GuardResult => awaitsApproval(loop),
  approvalsAnswered: (_: Args, { loop }: LoopProgress): GuardResult => {
    const { holds, inputs } = awaitsApproval(loop);
    return { holds: !holds, inputs };
  },
  answerFits: ({ context }: Args, answer: UserAnswer): GuardResult => answerFits(context, answer),
  directionPossible: ({ context }: Args, direction: Direction): GuardResult => directionPossible(context, direction),
  sourceMayRecover: ({ context }: Args): GuardResult => sourceMayRecover(context),
  consentNeeded: ({ context }: Args): GuardResult => consentNeeded(context),
  consentDecided: ({ context }: Args): GuardResult => consentDecided(context),
  consentSettled: ({ context }: Args): GuardResult => consentSettled(context),
  measuringPays: ({ context }: Args): GuardResult => measuringPays(context, visibleMessages(context)),
  contextMustShrink: ({ context }: Args): GuardResult => contextMustShrink(context),
  modelMayRate: ({ context }: Args): GuardResult => modelMayRate(context),
  onDetour: ({ context: { detour } }: Args): GuardResult => ({ holds: detour, inputs: { detour } }),
  summariesWanted: ({ context }: Args): GuardResult => summariesWanted(context),
  comparisonWanted: ({ context }: Args): GuardResult => comparisonWanted(context),
  gradingWanted: ({ context }: Args): GuardResult => gradingWanted(context),
  phaseSaved: ({ context }: Args): GuardResult => phaseSaved(context),
  hasSession: ({ context }: Args): GuardResult => hasSession(context),
  recallWanted: ({ context }: Args): GuardResult => recallWanted(context),
  costLimitReached: ({ context }: Args): GuardResult => costLimitReached(context),
  modelUnavailable: ({ context }: Args): GuardResult => modelUnavailable(context),
  phaseMayRepeat: ({ context }: Args): GuardResult => phaseMayRepeat(context),
  phaseMayBeSkipped: ({ context }: Args): GuardResult => phaseMayBeSkipped(context),
  answerIsFinal: ({ context }: Args): GuardResult => answerIsFinal(context),
  modelMayWrite: ({ context }: Args): GuardResult => modelMayWrite(context),
  valueMayBeStated: ({ context }: Args): GuardResult => valueMayBeStated(context),
};
