import type { AttemptExecution } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';
import { wasNotMade } from './model-status.ts';
import { phasesSharedWith } from './shared-calls.ts';

/** Whether the phase was aborted but left a result: the run continues from there and repeats nothing. */
export function phaseSaved({ failure, direction }: ChainState): GuardResult {
  return { holds: failure === null, inputs: { direction } };
}

/**
 * The failure to report for a phase. If the last model was unreachable but an earlier one answered with an invalid
 * reply, the latter is more informative: models are available, and the next phase may succeed. So is any failure of a
 * call, compared with that of a model that was not called.
 */
export function informativeFailure({ attempts }: AttemptExecution, failure: Failure): Failure {
  if (!isUnreachable(failure)) return failure;
  const lastOf = new Map(attempts.map((attempt) => [attempt.model, attempt.failure]));
  const called = [...lastOf.values()].filter((last) => last !== null && !wasNotMade(last));
  const answered = called.find((last) => last !== null && !isUnreachable(last));
  return answered ?? (wasNotMade(failure) ? called.at(-1) : failure) ?? failure;
}

/** Whether a call did not reach its model. A prompt that is too long fails only its own phase: another one is shorter. */
function isUnreachable({ stage, code }: Failure): boolean {
  return stage === 'transport' && code !== 'prompt_too_long';
}

/**
 * Whether the model's calls never succeeded: the attempt machine already retried them, so the next phase would fail
 * too.
 */
export function modelUnavailable({ failure }: ChainState): GuardResult {
  const { stage = null, code = null } = failure?.failure ?? {};
  return { holds: failure !== null && isUnreachable(failure.failure), inputs: { stage, code } };
}

/** Whether the phase is repeated: its failure may be temporary, or its shared prompt is too long, and its own is shorter. */
export function phaseMayRepeat(state: ChainState): GuardResult {
  const { failure, phaseRetries, limits } = state;
  const isSharedTooLong =
    failure?.failure.code === 'prompt_too_long' && phasesSharedWith(state, state.phase).length > 0;
  const retryable = isSharedTooLong || (failure?.failure.retryable ?? false);
  const { maxPhaseRetries } = limits;
  return { holds: retryable && phaseRetries < maxPhaseRetries, inputs: { retryable, phaseRetries, maxPhaseRetries } };
}

/** Whether the run can continue without the phase: any but Yield, which decides. */
export function phaseMayBeSkipped({ failure }: ChainState): GuardResult {
  const phase = failure?.phase ?? null;
  return { holds: phase !== null && phase !== 'yield', inputs: { phase } };
}
