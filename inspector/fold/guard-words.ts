import type { Thresholds } from '../../machines/contracts/limits.ts';
import type { ComparedValue } from './explain.ts';
import { capitalize, formatNumber, formatScore, humanize, humanizeGuard } from './format.ts';

/** What the recorded inputs of the guards mean, by name. Names of other programs have none. */
const MEANINGS: Readonly<Record<string, string>> = {
  allowed: 'retries allowed for this kind of failure',
  askable: 'messages that the model may rate',
  attempts: 'attempts so far',
  calls: 'model calls of this attempt',
  change: 'how much the answer changed since the last cycle: 0 is the same, 1 is entirely new',
  claim: 'how well the answer supports the claim that the task is done; believed at 0.5 or more',
  claimsCompletion: 'the model says that the task is complete',
  completedCycles: 'cycles completed',
  confidence: 'confidence in the answer',
  decider: 'who decides whether another tool runs',
  detour: 'Understanding was entered early, because the context is too large',
  directedTo: 'the phase that the user chose',
  done: 'the model says that no other tool is needed',
  elapsedMs: 'time of all attempts and waits',
  grounding: 'share of the answer that the evidence supports',
  informationSufficiency: 'how much of the needed information is known',
  isBudgetSpent: 'the budget is used up',
  isConfident: 'the answer is confident enough already',
  isToCompare: 'the answers can be compared by meaning',
  isToGrade: 'the answer still needs to be graded',
  kind: 'kind of failure',
  leftMs: 'time left',
  loopRepeats: 'repetitions that count as a loop',
  maxContinuations: 'tool runs allowed',
  maxCycles: 'cycles allowed',
  maxParallelCalls: 'tool calls that may run at the same time',
  maxSameCalls: 'steps allowed with the same calls',
  messages: 'messages concerned',
  mode: 'who chooses the next phase',
  modelCalls: 'model calls so far',
  modelConfidence: 'the confidence that the model stated',
  phase: 'the phase in question',
  phaseRetries: 'repetitions of the phase so far',
  proposal: 'the proposed next phase',
  proposedBy: 'who proposed it',
  prose: 'the model answered in prose',
  repeats: 'earlier decisions with the same phase and answer',
  results: 'tool results so far',
  retries: 'retries so far',
  retryable: 'a retry could succeed',
  runs: 'tool runs so far',
  satisfaction: 'how satisfied the user seems; enough at 0.5 or more',
  slot: 'the slot, 1 to 4, that would run the next tool call',
  status: 'HTTP status',
  steps: 'steps with the same calls',
  taskComplete: 'the task counts as complete',
  tokens: 'tokens so far',
  used: 'retries used for this kind of failure',
  waiting: 'tool calls waiting for a slot',
  waitMs: 'wait before the next attempt',
};

export const meaningOf = (name: string): string | null =>
  Object.hasOwn(MEANINGS, name) ? (MEANINGS[name] ?? null) : null;

/** What the words of a name do not say by themselves. */
const NAMES: Readonly<Record<string, string>> = {
  claim: 'support of the claim that the task is done',
  claimsCompletion: 'the model says that the task is done',
  detour: 'early Understanding',
  grounding: 'draft supported by the evidence',
  isBudgetSpent: 'budget used up',
  isConfident: 'confident enough',
  satisfaction: 'satisfaction of the user',
};

/** A value that a guard compared, in words. */
export const valueTitle = (name: string): string =>
  (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined) ?? humanize(name);

/** The setting that a guard compares with, by the guard's name or the limit's. */
const SETTINGS: Readonly<Record<string, string>> = {
  'confidenceReached above': 'thresholds.confidence',
  'answerConverged below': 'thresholds.change',
  'nextPhaseChosen above': 'thresholds.confidence',
  'nextPhaseChosen below': 'thresholds.change',
  loopRepeats: 'thresholds.loopRepeats',
  maxCycles: 'limits.maxCycles',
  maxTokens: 'limits.maxTokens',
  maxModelCalls: 'limits.maxModelCalls',
  maxContinuations: 'limits.maxContinuations',
  maxParallelCalls: 'limits.maxParallelCalls',
  maxSameCalls: 'limits.maxSameCalls',
  maxPhaseRetries: 'limits.maxPhaseRetries',
  sufficiency: 'thresholds.sufficiency',
};

/** Guards that hold as soon as a value reaches its limit. */
const REACHES: ReadonlySet<string> = new Set([
  'cycleLimitReached',
  'budgetExhausted',
  'budgetSpent',
  'continuationLimitReached',
]);

/** How a value relates to its limit: what the guard needed, and the setting that changes it. */
export interface LimitWords {
  /** `needs more than 0.9`. */
  readonly needs: string;
  readonly setting: string | null;
}

export function limitWords(guard: string, { value, limit }: ComparedValue): LimitWords | null {
  if (limit === null) return null;
  const shown = typeof value === 'number' ? formatScore(limit.value, value) : formatNumber(limit.value);
  const setting = SETTINGS[`${guard} ${limit.name}`] ?? SETTINGS[limit.name] ?? null;
  if (limit.name === 'above') return { needs: `needs more than ${shown}`, setting };
  if (limit.name === 'below') return { needs: `needs less than ${shown}`, setting };
  if (limit.name === 'sufficiency') return { needs: `enough from ${shown}`, setting };
  return { needs: `limit ${shown}`, setting };
}

/** The rules of Yield, and the guards that choose the next phase, in words. */
const TITLES: Readonly<Record<string, string>> = {
  budgetExhausted: 'Budget used up',
  confidenceReached: 'Answer confident enough',
  answerConverged: 'Answer no longer changes',
  loopDetected: 'Cycles repeat each other',
  answerIsProse: 'Answer in prose, without a rating',
  nextPhaseInvalid: 'No valid next phase was proposed',
  directionFits: 'The user chose the next phase',
};

/** A guard in words; for a phase to continue with, as `Continue with Experience`. */
export function guardTitle(guard: string): string {
  const next = /^(?:nextPhaseIs|directedTo)\((\w+)\)$/u.exec(guard)?.[1];
  if (next !== undefined) return `Continue with ${capitalize(next)}`;
  return (Object.hasOwn(TITLES, guard) && TITLES[guard]) || capitalize(humanizeGuard(guard));
}

/**
 * What would have changed a guard's result, in one sentence; null if no single number decides it. `isTaken`: the guard
 * held.
 */
export function flipWords(guard: string, compared: readonly ComparedValue[], isTaken: boolean): string | null {
  const decisive = compared.filter(({ value, limit }) => typeof value === 'number' && limit !== null);
  const [only] = decisive;
  if (only?.limit == null || decisive.length !== 1 || typeof only.value !== 'number') return null;
  const { value, limit } = only;
  const shown = formatScore(value, limit.value);
  if (limit.name === 'above' || limit.name === 'below') {
    // No threshold is below 0 or above 1.
    if (!isTaken && (limit.name === 'above' ? value <= 0 : value >= 1)) return null;
    const [held, missed] = limit.name === 'above' ? ['or more', 'below'] : ['or less', 'above'];
    return isTaken
      ? `Would not have held with a threshold of ${shown} ${held}.`
      : `Would have held with a threshold ${missed} ${shown}.`;
  }
  if (!REACHES.has(guard)) return null;
  return isTaken
    ? `Would not have held with a limit above ${shown}.`
    : `Would have held with a limit of ${shown} or less.`;
}

/** Why the confidence is lower than the one that the model stated; null if it is not. */
export function capWords(inputs: Readonly<Record<string, unknown>>, thresholds: Thresholds | null): string | null {
  const { confidence, modelConfidence, grounding } = inputs;
  if (typeof confidence !== 'number' || typeof modelConfidence !== 'number' || confidence >= modelConfidence)
    return null;
  const stated = `The model stated ${formatScore(modelConfidence, confidence)}, but the confidence is capped at ${formatScore(confidence, modelConfidence)}`;
  if (thresholds !== null && typeof grounding === 'number' && grounding < thresholds.grounding)
    return `${stated}, because the evidence supports only ${formatScore(grounding, thresholds.grounding)} of the answer; ${formatScore(thresholds.grounding, grounding)} is needed.`;
  return `${stated}, because the answer says that nothing was found, or claims more than the evidence supports.`;
}
