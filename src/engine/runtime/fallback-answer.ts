import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { failPhase } from '../../../machines/policies/progress.ts';
import { composeAnswer } from '../../../machines/policies/synthesis/compose.ts';
import { unwritten } from '../../../machines/policies/synthesis/outcome.ts';
import { answerOf } from '../../../machines/policies/synthesis/state.ts';

/** A chart that crashed is a bug; the run still answers with what it had, and says so. */
export function answerAfterCrash(state: ChainState, error: unknown): FinalAnswer {
  const failure = unexpectedFailure(error);
  return composed(failure.message, () => {
    const failed = failPhase(state, state.direction, failure);
    return answerOf({ ...state, ...failed, interruption: { kind: 'phase_failed' } });
  });
}

/** Somebody stopped the actor from outside. */
export function answerAfterStop(state: ChainState): FinalAnswer {
  const reason = 'the actor was stopped';
  return composed(reason, () => answerOf({ ...state, interruption: { kind: 'interrupted', reason } }));
}

/** Even where the state cannot be read any more there is an answer: one that is made from nothing. */
function composed(why: string, compose: () => FinalAnswer): FinalAnswer {
  try {
    return compose();
  } catch {
    return composeAnswer({}, unwritten('other', `the run broke: ${why}`));
  }
}
