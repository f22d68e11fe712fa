import type { ChainState } from '../contracts/chain-state.ts';
import type { Verdict } from '../contracts/verdict.ts';

/** What to do with a phase that failed [Y9]: again, skip, or finish degraded. */

/** Its calls never got through, and were tried again by the attempt machine already: the next phase would fail the same. */
export function modelUnavailable({ failure }: ChainState): Verdict {
  const stage = failure?.failure.stage ?? null;
  return { holds: stage === 'transport', inputs: { stage, code: failure?.failure.code ?? null } };
}

export function phaseMayRepeat({ failure, phaseRetries, limits }: ChainState): Verdict {
  const retryable = failure?.failure.retryable ?? false;
  const { maxPhaseRetries } = limits;
  return { holds: retryable && phaseRetries < maxPhaseRetries, inputs: { retryable, phaseRetries, maxPhaseRetries } };
}

/** Any phase can be done without but Yield, which decides. */
export function phaseMayBeSkipped({ failure }: ChainState): Verdict {
  const phase = failure?.phase ?? null;
  return { holds: phase !== null && phase !== 'yield', inputs: { phase } };
}

/** Milliseconds until the phases must end, and what is kept for the answer: both within `totalMs`. */
export function deadlines({ totalMs, synthesisMs }: ChainState['limits']): { runMs: number; synthesisMs: number } {
  const kept = Math.min(synthesisMs, totalMs / 4);
  return { runMs: totalMs - kept, synthesisMs: kept };
}
