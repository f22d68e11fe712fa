import type { ChainState } from '../contracts/chain-state.ts';
import type { Decision, DecisionRule, GuardResult } from '../contracts/decision.ts';

/** When a run is complete [Y1, Y2]. Each rule is a guard of the chart by the same name; the chart holds their order. */

export function cycleLimitReached({ recursion, limits }: ChainState): GuardResult {
  const inputs = { completedCycles: recursion.completedCycles, maxCycles: limits.maxCycles };
  return { holds: recursion.completedCycles >= limits.maxCycles, inputs };
}

/** Counted from real usage between two calls, so one call may overrun; the synthesis reserve is not part of it [E9]. */
export function budgetExhausted({ usage, limits }: ChainState): GuardResult {
  const tokens = usage.inputTokens + usage.outputTokens;
  const { maxTokens, maxModelCalls } = limits;
  return {
    holds: tokens >= maxTokens || usage.modelCalls >= maxModelCalls,
    inputs: { tokens, maxTokens, modelCalls: usage.modelCalls, maxModelCalls },
  };
}

/** The model's confidence, as far as the answer is grounded. */
export function confidenceReached({ assessment, thresholds }: ChainState): GuardResult {
  const confidence = assessment?.confidence ?? 0;
  const { modelConfidence = 0, grounding = null } = assessment?.evidence ?? {};
  return {
    holds: confidence > thresholds.confidence,
    inputs: { confidence, above: thresholds.confidence, modelConfidence, grounding },
  };
}

/** More than one cycle, and an answer that hardly changed since the last. */
export function answerConverged({ assessment, recursion, thresholds }: ChainState): GuardResult {
  const change = assessment?.change ?? null;
  const { completedCycles } = recursion;
  return {
    holds: completedCycles > 1 && change !== null && change < thresholds.change,
    inputs: { completedCycles, change, below: thresholds.change },
  };
}

/** The model's word, borne out by the evidence; or the user's. */
export function taskComplete({ assessment }: ChainState): GuardResult {
  const complete = assessment?.taskComplete ?? false;
  const { claimsCompletion = false, claim = null, satisfaction = 0 } = assessment?.evidence ?? {};
  return { holds: complete, inputs: { taskComplete: complete, claimsCompletion, claim, satisfaction } };
}

const GOOD: ReadonlySet<DecisionRule> = new Set(['confidenceReached', 'answerConverged', 'taskComplete']);

/** Whether a run ended because its answer was good, and not because a bound was reached. */
export function settled(decision: Decision | null): boolean {
  return decision !== null && GOOD.has(decision.rule);
}
