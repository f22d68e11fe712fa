import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import { comparisonWanted } from '../policies/assessment.ts';
import {
  answerConverged,
  budgetExhausted,
  confidenceReached,
  cycleLimitReached,
  taskComplete,
} from '../policies/completion.ts';
import { consentRequest } from '../policies/consent.ts';
import { loopDetected } from '../policies/decisions.ts';
import { isPhase, proposes } from '../policies/phase-selection.ts';
import { visibleMessages } from '../policies/progress.ts';
import { contextMustShrink, modelMayRate } from '../policies/prompt-window.ts';
import { modelUnavailable, phaseMayBeSkipped, phaseMayRepeat, phaseSaved } from '../policies/recovery.ts';
import { hasSession, recallWanted } from '../policies/session.ts';
import { sourceMayRecover } from '../policies/source-retry.ts';
import { modelMayWrite } from '../policies/synthesis/state.ts';
import { measuringPays, summariesWanted } from '../policies/understanding.ts';

type Args = { readonly context: ChainState };

/**
 * The guards of the chain by name, each one line to its policy. The chart asks whether the verdict holds; the journal also
 * shows the numbers it saw.
 */
export const chainGuards = {
  cycleLimitReached: ({ context }: Args): GuardResult => cycleLimitReached(context),
  budgetExhausted: ({ context }: Args): GuardResult => budgetExhausted(context),
  confidenceReached: ({ context }: Args): GuardResult => confidenceReached(context),
  answerConverged: ({ context }: Args): GuardResult => answerConverged(context),
  taskComplete: ({ context }: Args): GuardResult => taskComplete(context),
  loopDetected: ({ context }: Args): GuardResult => loopDetected(context),
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
  directedTo: ({ context }: Args, { phase }: { phase: Phase }): GuardResult => proposes(context.direction, phase),
  directionIsPhase: (_: Args, { phase }: { phase: string }): GuardResult => ({
    holds: isPhase(phase),
    inputs: { phase, phases: PHASES.join(' ') },
  }),
  sourceMayRecover: ({ context }: Args, { error }: { error: unknown }): GuardResult => sourceMayRecover(context, error),
  consentNeeded: ({ context }: Args): GuardResult => {
    const request = consentRequest(context.evaluation?.operations ?? [], visibleMessages(context));
    return { holds: request !== null, inputs: { messages: request?.items.length ?? 0 } };
  },
  measuringPays: ({ context }: Args): GuardResult => measuringPays(context, visibleMessages(context)),
  contextMustShrink: ({ context }: Args): GuardResult => contextMustShrink(context),
  modelMayRate: ({ context }: Args): GuardResult => modelMayRate(context),
  onDetour: ({ context: { detour } }: Args): GuardResult => ({ holds: detour, inputs: { detour } }),
  summariesWanted: ({ context }: Args): GuardResult => summariesWanted(context),
  comparisonWanted: ({ context }: Args): GuardResult => comparisonWanted(context),
  phaseSaved: ({ context }: Args): GuardResult => phaseSaved(context),
  hasSession: ({ context }: Args): GuardResult => hasSession(context),
  recallWanted: ({ context }: Args): GuardResult => recallWanted(context),
  modelUnavailable: ({ context }: Args): GuardResult => modelUnavailable(context),
  phaseMayRepeat: ({ context }: Args): GuardResult => phaseMayRepeat(context),
  phaseMayBeSkipped: ({ context }: Args): GuardResult => phaseMayBeSkipped(context),
  modelMayWrite: ({ context }: Args): GuardResult => modelMayWrite(context),
};
