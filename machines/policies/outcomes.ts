import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { Phase } from '../contracts/phase.ts';
import type { UnderstandingReply } from '../contracts/phases/understanding.ts';
import type { YieldReply } from '../contracts/phases/yield.ts';
import type { SynthesisReply } from '../contracts/synthesis.ts';
import { assess } from './assessment.ts';
import { failureOf, unexpectedFailure } from './failures.ts';
import { makePhase } from './phases/make.ts';
import { evaluateContext } from './phases/understanding.ts';
import { chargeExecution, completePhase, failPhase, visibleMessages } from './progress.ts';

/** What the end of a phase's actor does to the state: a value, a failure, an error, or no end in time. */

type Change = Partial<ChainState>;

export function settlePhase(state: ChainState, phase: Phase, outcome: AttemptOutcome): Change {
  const charged = chargeExecution(state, outcome.execution);
  const paid = { ...state, ...charged };
  if (!outcome.ok) return { ...charged, ...failPhase(paid, phase, outcome.failure) };
  return { ...charged, ...completePhase(paid, makePhase(paid, phase, outcome.value)) };
}

/** Understanding's first half: what it would do. Nothing is done before consent is settled. */
export function settleEvaluation(state: ChainState, outcome: AttemptOutcome): Change {
  if (!outcome.ok) return settlePhase(state, 'understanding', outcome);
  const reply = outcome.value as UnderstandingReply;
  return {
    ...chargeExecution(state, outcome.execution),
    evaluation: evaluateContext(state, visibleMessages(state), reply),
  };
}

/** Understanding's second half: consent is settled, the operations are appended [U7]. */
export function applyEvaluation(state: ChainState): Change {
  return completePhase(state, makePhase(state, 'understanding', state.evaluation?.reply));
}

/** Yield's first half: the answer is taken in and looked at, and the cycle counts as completed [Y6]. */
export function settleAssessment(state: ChainState, outcome: AttemptOutcome): Change {
  const settled = settlePhase(state, 'yield', outcome);
  if (!outcome.ok) return settled;
  const now = { ...state, ...settled };
  return {
    ...settled,
    assessment: assess(now, visibleMessages(now), outcome.value as YieldReply),
    recursion: { ...now.recursion, completedCycles: now.recursion.completedCycles + 1 },
  };
}

export function settleSynthesis(state: ChainState, outcome: AttemptOutcome): Change {
  const charged = chargeExecution(state, outcome.execution);
  if (!outcome.ok) return { ...charged, synthesisFailure: outcome.failure.message };
  return { ...charged, written: outcome.value as SynthesisReply };
}

export function breakPhase(state: ChainState, phase: Phase, error: unknown): Change {
  return failPhase(state, phase, unexpectedFailure(error));
}

export function timeOutPhase(state: ChainState, phase: Phase): Change {
  const says = `${phase} was not done within ${state.limits.phaseMs} ms.`;
  return failPhase(state, phase, failureOf('deadline', 'phase_deadline', says));
}
