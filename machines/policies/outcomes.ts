import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { Phase } from '../contracts/phase.ts';
import type { UnderstandingReply, YieldReply } from '../contracts/phase-io.ts';
import { assess } from './assessment.ts';
import { breakOff, loopResult } from './capability-loop.ts';
import { failureOf, unexpectedFailure } from './failures.ts';
import { makePhase } from './phase-output.ts';
import { DEFAULT_PHASE, phaseAfter } from './phase-selection.ts';
import {
  chargeExecution,
  completePhase,
  failPhase,
  NOTHING_IN_FLIGHT,
  type PhaseOutput,
  visibleMessages,
} from './progress.ts';
import { tellingFailure } from './recovery.ts';
import { rememberRuns } from './session.ts';
import { evaluateContext } from './understanding.ts';
import { addUsage } from './usage.ts';

/** What the end of a phase's actor does to the state: a value, a failure, an error, or no end in time. */

type Change = Partial<ChainState>;

export function settlePhase(state: ChainState, phase: Phase, outcome: AttemptOutcome): Change {
  const charged = chargeExecution(state, outcome.execution);
  const paid = { ...state, ...charged };
  if (!outcome.ok) return { ...charged, ...failPhase(paid, phase, tellingFailure(outcome.execution, outcome.failure)) };
  return { ...charged, ...settled(paid, makePhase(paid, phase, outcome.value)) };
}

/** The phase is done; what its capabilities did is remembered [R4]. */
function settled(state: ChainState, made: PhaseOutput): Change {
  const { result } = made;
  return { ...completePhase(state, made), ...(result.phase === 'action' && { runs: rememberRuns(state, result) }) };
}

/**
 * Settles what is aborted in flight: its usage is charged, and the results of a capability loop become Action's result, so that
 * no finished capability run is lost or repeated.
 */
export function settleAborted(state: ChainState, cause: string): Change {
  const { usage, loop } = state.inFlight;
  const charged = { usage: addUsage(state.usage, usage), inFlight: NOTHING_IN_FLIGHT };
  if (loop === null) return charged;
  const paid = { ...state, ...charged };
  return { ...charged, ...settled(paid, makePhase(paid, 'action', loopResult(breakOff(loop, cause)))) };
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

/** The phase's actor threw, which is a bug or a missing actor. */
export function failByError(state: ChainState, phase: Phase, error: unknown): Change {
  return {
    usage: addUsage(state.usage, state.inFlight.usage),
    inFlight: NOTHING_IN_FLIGHT,
    ...failPhase(state, phase, unexpectedFailure(error)),
  };
}

/** Not done in time: failed, but for a capability loop that was broken off with something done. */
export function timeOutPhase(state: ChainState, phase: Phase): Change {
  const failed = failPhase(state, phase, failureOf('deadline', 'phase_deadline', overdue(state, phase)));
  return isSaved(state, phase) ? { ...failed, failure: null, direction: phaseAfter(phase) ?? DEFAULT_PHASE } : failed;
}

export function overdue({ limits }: ChainState, phase: Phase): string {
  return `${phase} was not done within ${limits.phaseMs} ms.`;
}

export function isSaved({ results, recursion }: ChainState, phase: Phase): boolean {
  return results[phase]?.step === recursion.step;
}
