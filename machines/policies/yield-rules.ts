import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';

/** Scores are compared to nine decimals: a smaller difference is a rounding error of floating-point arithmetic. */
const DECIMALS = 9;
const FEWEST_DECIMALS = 3;

/** Returns a score without the rounding error of the arithmetic behind it: 1 - 0.9 becomes 0.1. */
export function exact(score: number): number {
  return roundTo(score, DECIMALS);
}

/** Whether a score is above a threshold; an equal one is not. */
export const isAbove = (score: number, threshold: number): boolean => exact(score) > exact(threshold);

/** Whether a score is below a threshold; an equal one is not. */
export const isBelow = (score: number, threshold: number): boolean => exact(score) < exact(threshold);

/**
 * Describes compared values in words. Numbers have three decimals, or enough to tell the compared numbers apart, so a
 * text never says that 0.1 is below 0.1.
 */
export function describeInputs(inputs: GuardResult['inputs']): string {
  const decimals = decimalsFor(Object.values(inputs).filter((value) => typeof value === 'number'));
  return Object.entries(inputs)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? roundTo(value, decimals) : value}`)
    .join(', ');
}

/** Returns the fewest decimals, from three to nine, at which numbers that differ look different. */
function decimalsFor(numbers: readonly number[]): number {
  const distinctAt = (decimals: number): number => new Set(numbers.map((value) => roundTo(value, decimals))).size;
  let decimals = FEWEST_DECIMALS;
  while (decimals < DECIMALS && distinctAt(decimals) < distinctAt(DECIMALS)) decimals += 1;
  return decimals;
}

const roundTo = (value: number, decimals: number): number =>
  Number.isInteger(value) ? value : Number(value.toFixed(decimals));

export interface YieldRuleDefinition {
  readonly evaluate: (state: ChainState) => GuardResult;
  /** Begins the decision's rationale. */
  readonly rationale: string;
  /** Describes the compared values, which follow; by default each is named. */
  readonly describe?: (inputs: GuardResult['inputs']) => string;
  /** Why the rule completes a run: the answer is good, a limit is reached, or another cycle would bring nothing. */
  readonly because: 'quality' | 'limit' | 'noProgress';
}

export function cycleLimitReached({ recursion, limits }: ChainState): GuardResult {
  const inputs = { completedCycles: recursion.completedCycles, maxCycles: limits.maxCycles };
  return { holds: recursion.completedCycles >= limits.maxCycles, inputs };
}

/**
 * Tokens are counted after each call, so one call may exceed their budget; the reserve for the answer is separate. Cost is reserved before
 * each call, so it exceeds its limit only if the limit is lowered.
 */
export function budgetExhausted({ usage, limits }: ChainState): GuardResult {
  const tokens = usage.inputTokens + usage.outputTokens;
  const { maxTokens, maxModelCalls, maxCost } = limits;
  const isSpent = maxCost !== null && (usage.cost === null || usage.cost >= maxCost);
  return {
    holds: tokens >= maxTokens || usage.modelCalls >= maxModelCalls || isSpent,
    inputs: {
      tokens,
      maxTokens,
      modelCalls: usage.modelCalls,
      maxModelCalls,
      ...(maxCost !== null && { cost: usage.cost, maxCost }),
    },
  };
}

/** The assessment has already capped the model's confidence by how well the answer is grounded. */
export function confidenceReached({ assessment, thresholds }: ChainState): GuardResult {
  const confidence = exact(assessment?.confidence ?? 0);
  const { modelConfidence = 0, grounding = null } = assessment?.evidence ?? {};
  return {
    holds: isAbove(confidence, thresholds.confidence),
    inputs: { confidence, above: thresholds.confidence, modelConfidence, grounding },
  };
}

/** More than one cycle is complete, and the answer hardly changed since the last one. */
export function answerConverged({ assessment, recursion, thresholds }: ChainState): GuardResult {
  const change = assessment?.change == null ? null : exact(assessment.change);
  const { completedCycles } = recursion;
  return {
    holds: completedCycles > 1 && change !== null && isBelow(change, thresholds.change),
    inputs: { completedCycles, change, below: thresholds.change },
  };
}

/** Whether the model claims completion and the evidence supports it, or the user sounds satisfied. */
export function taskComplete({ assessment }: ChainState): GuardResult {
  const complete = assessment?.taskComplete ?? false;
  const { claimsCompletion = false, claim = null, satisfaction = 0 } = assessment?.evidence ?? {};
  return { holds: complete, inputs: { taskComplete: complete, claimsCompletion, claim, satisfaction } };
}

/** Whether continuing would be repetition number `loopRepeats` of the same target and content. */
export function loopDetected({ assessment, thresholds: { loopRepeats } }: ChainState): GuardResult {
  const repeats = assessment?.repeats ?? 0;
  return { holds: repeats + 1 >= loopRepeats, inputs: { repeats, loopRepeats } };
}

/** Whether the model gave its answer in prose: it cannot assess the answer, and another cycle would not change that. */
function answerIsProse({ results }: ChainState): GuardResult {
  const prose = results.yield?.prose ?? false;
  return { holds: prose, inputs: { prose } };
}

/**
 * The rules that complete a run, in order. To add one, add it here and to the transitions of the state `deciding`:
 * guards, decisions and types derive from this table.
 */
export const YIELD_RULES = {
  cycleLimitReached: { evaluate: cycleLimitReached, rationale: 'the cycle limit is reached', because: 'limit' },
  budgetExhausted: { evaluate: budgetExhausted, rationale: 'the budget is used up', because: 'limit' },
  confidenceReached: { evaluate: confidenceReached, rationale: 'the answer is confident enough', because: 'quality' },
  answerConverged: { evaluate: answerConverged, rationale: 'the answer no longer changes', because: 'quality' },
  taskComplete: { evaluate: taskComplete, rationale: 'the task is complete', because: 'quality' },
  loopDetected: {
    evaluate: loopDetected,
    rationale: 'the next cycle would repeat an earlier one',
    describe: ({ repeats, loopRepeats }) =>
      `with it, ${Number(repeats) + 1} cycles start with the same phase after nearly the same answer; ${loopRepeats} count as a loop`,
    because: 'noProgress',
  },
  answerIsProse: { evaluate: answerIsProse, rationale: 'the model answers in prose', because: 'noProgress' },
} as const satisfies Readonly<Record<string, YieldRuleDefinition>>;

export type YieldRule = keyof typeof YIELD_RULES;

const rules: Readonly<Record<string, YieldRuleDefinition>> = YIELD_RULES;

/**
 * Whether a run ended with a good answer: by a rule that says so, or at a limit at which such a rule held as well. The limits come
 * first in the order of rules.
 */
export function hasConverged(state: ChainState): boolean {
  const { decision } = state;
  if (decision === null || !decision.complete) return false;
  const because = rules[decision.rule]?.because;
  return because === 'quality' || (because === 'limit' && firstRule(state, 'quality') !== null);
}

/** Returns the rule that would complete the run if the user did not decide: null if none holds, or only a limit. */
export function recommendedRule(state: ChainState): YieldRule | null {
  return firstRule(state, 'quality') ?? firstRule(state, 'noProgress');
}

function firstRule(state: ChainState, because: YieldRuleDefinition['because']): YieldRule | null {
  const names = Object.keys(YIELD_RULES) as YieldRule[];
  return names.find((name) => YIELD_RULES[name].because === because && YIELD_RULES[name].evaluate(state).holds) ?? null;
}

/** Whether the change must still be measured by embeddings: not if the answer is confident enough without it. */
export function comparisonWanted(state: ChainState): GuardResult {
  const isToCompare = state.assessment?.toCompare != null;
  const isConfident = confidenceReached(state).holds;
  return { holds: isToCompare && !isConfident, inputs: { isToCompare, isConfident } };
}
