import type { AttemptInput, AttemptOutcome } from '../../contracts/attempt.ts';
import type { ChainState } from '../../contracts/chain-state.ts';
import type { GuardResult } from '../../contracts/decision.ts';
import type { FinalAnswer } from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { deadlines } from '../limits.ts';
import { executionId } from '../phase-input.ts';
import { chargeExecution } from '../progress.ts';
import { composeAnswer } from './compose.ts';
import { synthesisInput } from './input.ts';
import { composedOutcome, lateOutcome, outcomeOf } from './outcome.ts';
import { readSynthesisInput } from './read-input.ts';
import { planWriting, type WritingPlan, writingPolicy } from './writing.ts';

/** Whether a model may write the final answer: it is available, and there is a reserve of tokens for it. */
export function modelMayWrite(state: ChainState): GuardResult {
  const plan = planOf(state);
  return {
    holds: plan.asks,
    inputs: {
      interruption: state.interruption?.kind ?? null,
      synthesisReserveTokens: state.limits.synthesisReserveTokens,
      promptTokens: plan.asks ? plan.promptTokens : null,
    },
  };
}

/** The input of the attempt that writes the answer. */
export function writingInput(state: ChainState): AttemptInput {
  const plan = planOf(state);
  if (!plan.asks) throw new TypeError('writingInput was called although modelMayWrite does not hold');
  return {
    id: executionId(state, 'synthesis'),
    task: 'synthesis',
    input: plan.input,
    policy: writingPolicy(state, plan),
    hasParent: true,
  };
}

/** Records the outcome. Its usage is part of the outcome, separate from the usage of the phases. */
export function settleWriting(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
  const { corrections, lastMessageAtMs } = chargeExecution(state, outcome.execution);
  return { corrections, lastMessageAtMs, written: outcomeOf(outcome) };
}

export function timeOutWriting(state: ChainState, usage: Usage): Partial<ChainState> {
  return { lastMessageAtMs: state.lastMessageAtMs + deadlines(state).synthesisMs, written: lateOutcome(usage) };
}

/** The final answer of a run in its current state. */
export function answerOf(state: ChainState): FinalAnswer {
  const plan = state.written === null ? planOf(state) : null;
  const outcome = state.written ?? (plan?.asks === false ? plan.outcome : composedOutcome(''));
  return composeAnswer(synthesisInput(state), outcome);
}

function planOf(state: ChainState): WritingPlan {
  return planWriting(readSynthesisInput(synthesisInput(state)).input, state.contextWindowTokens);
}
