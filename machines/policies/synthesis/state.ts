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

/** Synthesis as the chart goes through it: each function reads the state, or gives the fields of it that change. */

/** Whether a model may write the final answer: one that is there, with a reserve to pay it from [E9]. */
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

/** What the attempt that writes it is started with. */
export function writingInput(state: ChainState): AttemptInput {
  const plan = planOf(state);
  if (!plan.asks) throw new TypeError('no model may write this answer');
  return {
    id: executionId(state, 'synthesis'),
    task: 'synthesis',
    input: plan.input,
    policy: writingPolicy(state, plan),
  };
}

/** What it used is told by the outcome, and stands apart from the usage of the phases. */
export function settleWriting(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
  const { corrections, lastMessageAtMs } = chargeExecution(state, outcome.execution);
  return { corrections, lastMessageAtMs, written: outcomeOf(outcome) };
}

export function timeOutWriting(state: ChainState, usage: Usage): Partial<ChainState> {
  return { lastMessageAtMs: state.lastMessageAtMs + deadlines(state).synthesisMs, written: lateOutcome(usage) };
}

/** The final answer of a run, as it stands. */
export function answerOf(state: ChainState): FinalAnswer {
  const plan = state.written === null ? planOf(state) : null;
  const outcome = state.written ?? (plan?.asks === false ? plan.outcome : composedOutcome(''));
  return composeAnswer(synthesisInput(state), outcome);
}

function planOf(state: ChainState): WritingPlan {
  return planWriting(readSynthesisInput(synthesisInput(state)).input, state.contextWindowTokens);
}
