import type { AttemptExecution } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';

/** What to do with a phase that failed [Y9]: again, skip, or finish degraded. */

/** It was broken off with something done that stands as its result: on from there, and nothing is done twice. */
export function phaseSaved({ failure, direction }: ChainState): GuardResult {
  return { holds: failure === null, inputs: { direction } };
}

/**
 * What a phase failed by. Where the last model could not be reached but one before it answered, if with nothing that fits, that says
 * more: the models are not gone, and the next phase may fare better [C4].
 */
export function tellingFailure({ attempts }: AttemptExecution, failure: Failure): Failure {
  if (failure.stage !== 'transport') return failure;
  const lastOf = new Map(attempts.map((attempt) => [attempt.model, attempt.failure]));
  return [...lastOf.values()].find((last) => last !== null && last.stage !== 'transport') ?? failure;
}

/** Its calls never got through, and were tried again by the attempt machine already: the next phase would fail the same. */
export function modelUnavailable({ failure }: ChainState): GuardResult {
  const stage = failure?.failure.stage ?? null;
  return { holds: stage === 'transport', inputs: { stage, code: failure?.failure.code ?? null } };
}

export function phaseMayRepeat({ failure, phaseRetries, limits }: ChainState): GuardResult {
  const retryable = failure?.failure.retryable ?? false;
  const { maxPhaseRetries } = limits;
  return { holds: retryable && phaseRetries < maxPhaseRetries, inputs: { retryable, phaseRetries, maxPhaseRetries } };
}

/** Any phase can be done without but Yield, which decides. */
export function phaseMayBeSkipped({ failure }: ChainState): GuardResult {
  const phase = failure?.phase ?? null;
  return { holds: phase !== null && phase !== 'yield', inputs: { phase } };
}
