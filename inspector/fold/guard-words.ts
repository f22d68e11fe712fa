import type { Decision } from '../../machines/contracts/decision.ts';
import type { Thresholds } from '../../machines/contracts/limits.ts';
import type { ComparedValue } from './explain.ts';
import { capitalize, formatNumber, formatScore, humanize, humanizeGuard } from './format.ts';
import { excerpt, jsonExcerpt } from './text.ts';

/** What the words of a name do not say by themselves. */
const NAMES: Readonly<Record<string, string>> = {
  claim: 'support of the claim that the task is done',
  claimsCompletion: 'the model says that the task is done',
  detour: 'early Understanding',
  grounding: 'draft supported by the evidence',
  isBudgetSpent: 'budget used up',
  isConfident: 'confident enough',
  repeats: 'similar cycles, including the next one',
  retryable: 'can be retried',
  satisfaction: 'satisfaction of the user',
};

export const valueTitle = (name: string): string =>
  (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined) ?? humanize(name);

export function valueText(value: ComparedValue['value'], limit: number | null): string {
  if (typeof value === 'number') return formatScore(value, limit);
  if (value === null) return 'not measured';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // A guard of any machine may compare arrays and objects.
  return typeof value !== 'string' ? jsonExcerpt(value, 80) : value === '' ? '(empty)' : excerpt(value, 80);
}

/** The value that a guard compared with its limit: the rule about repeats includes the cycle that would follow. */
export const comparedText = ({ value, limit }: ComparedValue): string =>
  valueText(limit?.name === 'loopRepeats' && typeof value === 'number' ? value + 1 : value, limit?.value ?? null);

/** `confidence 0.66, needs more than 0.9; grounding 1`. */
export const comparedWords = (compared: readonly ComparedValue[]): string =>
  compared
    .map((one) => [`${valueTitle(one.name)} ${comparedText(one)}`, limitWords(one)].filter(Boolean).join(', '))
    .join('; ');

/** What a guard needed of a value: `needs more than 0.9`; empty without a limit. */
export function limitWords({ value, limit }: ComparedValue): string {
  if (limit === null) return '';
  const shown = typeof value === 'number' ? formatScore(limit.value, value) : formatNumber(limit.value);
  if (limit.name === 'above') return `needs more than ${shown}`;
  if (limit.name === 'below') return `needs less than ${shown}`;
  return limit.name === 'sufficiency' ? `sufficient at ${shown}` : `limit ${shown}`;
}

/** The rules of Yield, and the guards that choose the next phase, in words. */
const TITLES: Readonly<Record<string, string>> = {
  budgetExhausted: 'Budget used up',
  confidenceReached: 'Answer confident enough',
  answerConverged: 'Answer no longer changes',
  loopDetected: 'Cycles repeat each other',
  answerIsProse: 'Answer in prose, without a rating',
  modelUnavailable: 'The model reported a transport failure',
  phaseMayBeSkipped: 'The phase can be skipped',
  phaseMayRepeat: 'The phase can be retried',
  phaseSaved: 'The phase was stopped, and its result is kept',
  nextPhaseInvalid: 'No valid next phase was proposed',
  directionFits: 'The user chose the next phase',
};

/** A guard in words; for a phase to continue with, as `Continue with Experience`. */
export function guardTitle(guard: string): string {
  const next = /^(?:nextPhaseIs|directedTo)\((\w+)\)$/u.exec(guard)?.[1];
  if (next !== undefined) return `Continue with ${capitalize(next)}`;
  return (Object.hasOwn(TITLES, guard) && TITLES[guard]) || capitalize(humanizeGuard(guard));
}

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
