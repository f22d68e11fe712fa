import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Phase } from '../contracts/phase.ts';
import type { UnderstandingReply, YieldReply } from '../contracts/phase-io.ts';
import { assess } from './assessment.ts';
import { abortLoop, loopResult } from './capability-loop.ts';
import { failureOf, unexpectedFailure } from './failures.ts';
import { phaseDeadlineMs } from './limits.ts';
import { withAborted } from './model-status.ts';
import { phaseOutput } from './phase-output.ts';
import { DEFAULT_PHASE, phaseAfter } from './phase-selection.ts';
import { chargeExecution, completePhase, failPhase, NOTHING_IN_FLIGHT, visibleMessages } from './progress.ts';
import { informativeFailure } from './recovery.ts';
import { proposedEvaluation } from './understanding.ts';
import { addCost, addUsage, usageSoFar } from './usage.ts';

type Change = Partial<ChainState>;

export function settlePhase(state: ChainState, phase: Phase, outcome: AttemptOutcome): Change {
  const charged = chargeExecution(state, outcome.execution);
  const chargedState = { ...state, ...charged };
  if (!outcome.ok)
    return { ...charged, ...failPhase(chargedState, phase, informativeFailure(outcome.execution, outcome.failure)) };
  return { ...charged, ...completePhase(chargedState, phaseOutput(chargedState, phase, outcome.value, outcome.prose)) };
}

/**
 * Settles what is aborted in flight: its usage is charged, and the results of a capability loop become Action's result, so that
 * no finished capability run is lost or repeated.
 */
export function settleAborted(state: ChainState, cause: string): Change {
  const { usage, loop } = state.inFlight;
  const used = usageSoFar(usage);
  const charged = {
    usage: addUsage(state.usage, used),
    costs: addCost(state.costs, state.phase, used),
    inFlight: NOTHING_IN_FLIGHT,
  };
  if (loop === null) return charged;
  const chargedState = { ...state, ...charged };
  return {
    ...charged,
    ...completePhase(chargedState, phaseOutput(chargedState, 'action', loopResult(abortLoop(loop, cause)))),
  };
}

/** First half of Understanding: the proposed operations. None applies before consent is settled. */
export function settleEvaluation(state: ChainState, outcome: AttemptOutcome): Change {
  if (!outcome.ok) return settlePhase(state, 'understanding', outcome);
  const reply = outcome.value as UnderstandingReply;
  return {
    ...chargeExecution(state, outcome.execution),
    evaluation: proposedEvaluation(state, reply, outcome.prose),
  };
}

/** Second half of Understanding: consent is settled, the operations are appended. */
export function applyEvaluation(state: ChainState): Change {
  return completePhase(state, phaseOutput(state, 'understanding', state.evaluation?.reply));
}

/** First half of Yield: the answer is recorded and assessed, and the cycle counts as completed. */
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

/** Fails the phase because its actor threw, which is a bug or a missing actor. */
export function failByError(state: ChainState, phase: Phase, error: unknown): Change {
  const failure = unexpectedFailure(error);
  const aborted = settleAborted(state, failure.message);
  return { ...aborted, ...failUnfinished({ ...state, ...aborted }, phase, failure) };
}

/** Fails the phase with a deadline. A call in flight that has returned no byte by then has hung. */
export function timeOutPhase(state: ChainState, phase: Phase): Change {
  const failure = phaseTimeout(state, phase);
  const aborted = settleAborted(state, failure.message);
  const models = withAborted(state.models, state.inFlight.usage.call);
  return { ...aborted, models, ...failUnfinished({ ...state, ...aborted }, phase, failure) };
}

/** Fails the phase, unless an aborted capability loop left a result. */
function failUnfinished(state: ChainState, phase: Phase, failure: Failure): Change {
  const failed = failPhase(state, phase, failure);
  return hasResult(state, phase) ? { ...failed, failure: null, direction: phaseAfter(phase) ?? DEFAULT_PHASE } : failed;
}

export function phaseTimeout({ limits }: ChainState, phase: Phase): Failure {
  return failureOf(
    'deadline',
    'phase_deadline',
    `${phase} did not finish within ${phaseDeadlineMs(limits, phase)} ms.`,
  );
}

function hasResult({ results, recursion }: ChainState, phase: Phase): boolean {
  return results[phase]?.step === recursion.step;
}
