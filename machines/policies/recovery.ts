import type { AttemptExecution } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';

/** Whether the phase was aborted but left a result: the run continues from there and repeats nothing. */
export function phaseSaved({ failure, direction }: ChainState): GuardResult {
  return { holds: failure === null, inputs: { direction } };
}

/**
 * The failure to report for a phase. If the last model was unreachable but an earlier one answered with an invalid
 * reply, the latter is more informative: models are available, and the next phase may succeed.
 */
export function informativeFailure({ attempts }: AttemptExecution, failure: Failure): Failure {
  if (failure.stage !== 'transport') return failure;
  const lastOf = new Map(attempts.map((attempt) => [attempt.model, attempt.failure]));
  return [...lastOf.values()].find((last) => last !== null && last.stage !== 'transport') ?? failure;
}

/**
 * Whether the model's calls never succeeded: the attempt machine already retried them, so the next phase would fail
 * too.
 */
export function modelUnavailable({ failure }: ChainState): GuardResult {
  const stage = failure?.failure.stage ?? null;
  return { holds: stage === 'transport', inputs: { stage, code: failure?.failure.code ?? null } };
}

export function phaseMayRepeat({ failure, phaseRetries, limits }: ChainState): GuardResult {
  const retryable = failure?.failure.retryable ?? false;
  const { maxPhaseRetries } = limits;
  return { holds: retryable && phaseRetries < maxPhaseRetries, inputs: { retryable, phaseRetries, maxPhaseRetries } };
}

/** Whether the run can continue without the phase: any but Yield, which decides. */
export function phaseMayBeSkipped({ failure }: ChainState): GuardResult {
  const phase = failure?.phase ?? null;
  return { holds: phase !== null && phase !== 'yield', inputs: { phase } };
}
