import type { ChainState } from '../contracts/chain-state.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import type { Verdict } from '../contracts/verdict.ts';
import {
  answerConverged,
  budgetExhausted,
  confidenceReached,
  cycleLimitReached,
  taskComplete,
} from '../policies/completion.ts';
import { consentRequest } from '../policies/consent.ts';
import { comparisonWanted } from '../policies/convergence.ts';
import { loopDetected } from '../policies/decisions.ts';
import { isPhase, proposes } from '../policies/phase-selection.ts';
import { measuringPays } from '../policies/phases/understanding.ts';
import { visibleMessages } from '../policies/progress.ts';
import { contextMustShrink, modelMayRate } from '../policies/prompt-window.ts';
import { modelUnavailable, phaseMayBeSkipped, phaseMayRepeat, phaseSaved } from '../policies/recovery.ts';
import { hasSession, recallWanted } from '../policies/session.ts';
import { sourceMayRecover } from '../policies/source-backoff.ts';
import { summariesWanted } from '../policies/summaries.ts';
import { modelMayWrite } from '../policies/synthesis/state.ts';

type Args = { readonly context: ChainState };

/**
 * The guards of the chain by name, each one line to its policy. The chart asks whether the verdict holds; the journal also
 * shows the numbers it saw.
 */
export const chainVerdicts = {
  cycleLimitReached: ({ context }: Args): Verdict => cycleLimitReached(context),
  budgetExhausted: ({ context }: Args): Verdict => budgetExhausted(context),
  confidenceReached: ({ context }: Args): Verdict => confidenceReached(context),
  answerConverged: ({ context }: Args): Verdict => answerConverged(context),
  taskComplete: ({ context }: Args): Verdict => taskComplete(context),
  loopDetected: ({ context }: Args): Verdict => loopDetected(context),
  directionWanted: ({ context: { recursion } }: Args): Verdict => ({
    holds: recursion.mode === 'manual',
    inputs: { mode: recursion.mode },
  }),
  nextPhaseIs: ({ context }: Args, { phase }: { phase: Phase }): Verdict =>
    proposes(context.assessment?.proposal ?? '', phase),
  nextPhaseInvalid: ({ context: { assessment } }: Args): Verdict => {
    const proposal = assessment?.proposal ?? '';
    return { holds: !isPhase(proposal), inputs: { proposal } };
  },
  directedTo: ({ context }: Args, { phase }: { phase: Phase }): Verdict => proposes(context.direction, phase),
  directionIsPhase: (_: Args, { phase }: { phase: string }): Verdict => ({
    holds: isPhase(phase),
    inputs: { phase, phases: PHASES.join(' ') },
  }),
  sourceMayRecover: ({ context }: Args, { error }: { error: unknown }): Verdict => sourceMayRecover(context, error),
  consentNeeded: ({ context }: Args): Verdict => {
    const request = consentRequest(context.evaluation?.operations ?? [], visibleMessages(context));
    return { holds: request !== null, inputs: { messages: request?.items.length ?? 0 } };
  },
  measuringPays: ({ context }: Args): Verdict => measuringPays(context, visibleMessages(context)),
  contextMustShrink: ({ context }: Args): Verdict => contextMustShrink(context),
  modelMayRate: ({ context }: Args): Verdict => modelMayRate(context),
  onDetour: ({ context: { detour } }: Args): Verdict => ({ holds: detour, inputs: { detour } }),
  summariesWanted: ({ context }: Args): Verdict => summariesWanted(context),
  comparisonWanted: ({ context }: Args): Verdict => comparisonWanted(context),
  phaseSaved: ({ context }: Args): Verdict => phaseSaved(context),
  hasSession: ({ context }: Args): Verdict => hasSession(context),
  recallWanted: ({ context }: Args): Verdict => recallWanted(context),
  modelUnavailable: ({ context }: Args): Verdict => modelUnavailable(context),
  phaseMayRepeat: ({ context }: Args): Verdict => phaseMayRepeat(context),
  phaseMayBeSkipped: ({ context }: Args): Verdict => phaseMayBeSkipped(context),
  modelMayWrite: ({ context }: Args): Verdict => modelMayWrite(context),
};
