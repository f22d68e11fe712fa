import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { failPhase } from '../../machines/policies/progress.ts';
import { composeAnswer } from '../../machines/policies/synthesis.ts';
import { NO_USAGE } from '../../machines/policies/usage.ts';

/** A chart that crashed is a bug; the run still answers with what it had, and says so. */
export function answerAfterCrash(state: ChainState, error: unknown): FinalAnswer {
  const failure = unexpectedFailure(error);
  return composed(failure.message, () => {
    const failed = failPhase(state, state.direction, failure);
    return composeAnswer({ ...state, ...failed, interruption: { kind: 'phase_failed' } });
  });
}

/** Somebody stopped the actor from outside. */
export function answerAfterStop(state: ChainState): FinalAnswer {
  const reason = 'the actor was stopped';
  return composed(reason, () => composeAnswer({ ...state, interruption: { kind: 'interrupted', reason } }));
}

/** Even where the state cannot be read any more there is an answer: one that touches nothing. */
function composed(why: string, compose: () => FinalAnswer): FinalAnswer {
  try {
    return compose();
  } catch {
    return lastResort(why);
  }
}

function lastResort(why: string): FinalAnswer {
  const explanation = `The run broke: ${why}`;
  return {
    answerText: `No answer was reached. ${explanation}`,
    confidence: 0,
    usedStepIds: [],
    notes: explanation,
    ttlExhausted: false,
    status: 'degraded',
    sources: [],
    metadata: {
      degraded: true,
      reason: 'incomplete_state',
      explanation,
      missingFields: ['answer'],
      writtenBy: 'engine',
      decision: null,
      cycles: 0,
      usage: NO_USAGE,
      failures: [],
    },
  };
}
