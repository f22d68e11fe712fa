import type { Decision } from '../../machines/contracts/decision.ts';
import type { Thresholds } from '../../machines/contracts/limits.ts';
import { capitalize, formatNumber, formatScore, humanizeGuard } from './format.ts';

type Inputs = Decision['inputs'];

/** A number that a decision compared; 0 if it is missing. */
const numberIn = (inputs: Inputs, name: string): number => {
  const value = inputs[name];
  return typeof value === 'number' ? value : 0;
};

const scores = (inputs: Inputs, name: string, limit: number): readonly [string, string] => {
  const value = numberIn(inputs, name);
  return [formatScore(value, limit), formatScore(limit, value)];
};

const SENTENCES: Readonly<Record<string, (inputs: Inputs) => string>> = {
  cycleLimitReached: (inputs) =>
    `The cycle limit is reached (${numberIn(inputs, 'completedCycles')} of ${numberIn(inputs, 'maxCycles')})`,
  budgetExhausted(inputs) {
    const [used, limit] = [numberIn(inputs, 'tokens'), numberIn(inputs, 'maxTokens')];
    if (used >= limit) return `The tokens are used up (${formatNumber(used)} of ${formatNumber(limit)})`;
    return `The model calls are used up (${numberIn(inputs, 'modelCalls')} of ${numberIn(inputs, 'maxModelCalls')})`;
  },
  confidenceReached(inputs) {
    const [confidence, above] = scores(inputs, 'confidence', numberIn(inputs, 'above'));
    return `Yield’s answer is confident enough (${confidence}, needs more than ${above})`;
  },
  answerConverged(inputs) {
    const [change, below] = scores(inputs, 'change', numberIn(inputs, 'below'));
    return `The answer no longer changes (${change}, needs less than ${below})`;
  },
  taskComplete({ claimsCompletion, claim }) {
    if (claimsCompletion !== true) return 'The user seems satisfied';
    return `The model says that the task is complete${claim === null ? '' : ', and the evidence agrees'}`;
  },
  loopDetected: () => 'Another cycle would repeat an earlier one',
  answerIsProse: () => 'The model answers in prose and cannot rate its answer',
  directedByUser: () => 'The user chose the next phase',
};

/** Why Yield ended the run or chose the next phase, with the numbers it compared. No period at the end. */
export function decisionReason({ rule, rationale, inputs }: Decision, thresholds: Thresholds | null): string {
  const sentence = Object.hasOwn(SENTENCES, rule) ? SENTENCES[rule]?.(inputs) : undefined;
  if (sentence !== undefined) return sentence;
  const reason = rationale.replace(/^continuing with \w+: /u, '');
  if (reason.startsWith('information sufficiency') && thresholds !== null) {
    const [found, needed] = scores(inputs, 'informationSufficiency', thresholds.sufficiency);
    return `Not enough information yet (${found}, needs ${needed})`;
  }
  return capitalize(reason) || capitalize(humanizeGuard(rule));
}
