import type { AttemptPolicy, CallInFlight, UsageInFlight } from '../contracts/attempt.ts';
import type { ChainInput, ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import { type Limits, limitsSchema, thresholdsSchema } from '../contracts/limits.ts';
import type { Phase, PromptName } from '../contracts/phase.ts';
import type { Price, TokenUsage, Usage } from '../contracts/usage.ts';

export const NO_USAGE: Usage = { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false, cost: 0 };

/** Adds the usage of one model call, at its model's price. A sum that includes an estimate is an estimate. */
export function addCall(total: Usage, call: TokenUsage, price: Price | null): Usage {
  const { cost, savedByCache } = price === null ? UNPRICED : costOf(call, price);
  return addUsage(total, { modelCalls: 1, ...call, cost, ...(savedByCache !== 0 && { savedByCache }) });
}

/** Adds the cost of usage to the costs by task. A cost that is unknown is left out. */
export function addCost(costs: Readonly<Record<string, number>>, task: string, { cost }: Usage) {
  return cost === null || cost === 0 ? costs : { ...costs, [task]: (costs[task] ?? 0) + cost };
}

const UNPRICED = { cost: null, savedByCache: 0 };

/** The price of writing to the cache, as a multiple of that of other input, unless the price says otherwise. */
const CACHE_WRITE_FACTOR = 1.25;

function cacheWritePrice({ inputPerMillion, cacheWritePerMillion }: Price): number {
  return cacheWritePerMillion ?? inputPerMillion * CACHE_WRITE_FACTOR;
}

/** Returns the cost of a call, and how much more it would have been without the cache. */
export function costOf(
  { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: TokenUsage,
  price: Price,
) {
  const { inputPerMillion, cachedInputPerMillion = inputPerMillion, outputPerMillion } = price;
  const read = Math.min(cachedInputTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - read);
  const writePerMillion = cacheWritePrice(price);
  const input = (inputTokens - read - written) * inputPerMillion + read * cachedInputPerMillion;
  return {
    cost: (input + written * writePerMillion + outputTokens * outputPerMillion) / 1_000_000,
    savedByCache:
      (read * (inputPerMillion - cachedInputPerMillion) - written * (writePerMillion - inputPerMillion)) / 1_000_000,
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...addDetails(a, b),
    estimated: a.estimated || b.estimated,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
  };
}

/** The numbers that only some providers report. */
const DETAILS = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens', 'savedByCache'] as const;

/** Adds them. A number that neither has stays absent. */
function addDetails(a: Usage, b: Usage): Partial<Usage> {
  const known = DETAILS.filter((name) => a[name] !== undefined || b[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

export const NOTHING_USED: UsageInFlight = { finished: NO_USAGE, call: null };

export function usageSoFar({ finished, call }: UsageInFlight): Usage {
  return call === null ? finished : addCall(finished, callUsage(call), call.price);
}

/** Returns what the model reported, or an estimate from the characters of the prompt and of the reply so far. */
export function callUsage({ input, promptChars, replyChars, usage, maxOutputTokens }: CallInFlight): TokenUsage {
  const known = usage ?? estimatedUsage(promptChars ?? textChars(input), replyChars);
  if (!known.estimated || maxOutputTokens === null || known.outputTokens <= maxOutputTokens) return known;
  return { ...known, outputTokens: maxOutputTokens };
}

export function estimatedUsage(promptChars: number, replyChars: number): TokenUsage {
  return { inputTokens: tokensOfChars(promptChars), outputTokens: tokensOfChars(replyChars), estimated: true };
}

/** Returns the number of characters in the texts of a JSON value, at any depth. */
export function textChars(json: unknown): number {
  if (typeof json === 'string') return json.length;
  if (typeof json !== 'object' || json === null) return 0;
  return Object.values(json).reduce((sum: number, value) => sum + textChars(value), 0);
}

/** Estimated tokens per character of English text, for use without a tokenizer. */
export const TOKENS_PER_CHAR = 0.25;

export function tokensOfChars(chars: number): number {
  return Math.ceil(chars * TOKENS_PER_CHAR);
}

/** Tokens per character for other alphabets, and for East Asian scripts. */
const TOKENS_PER_LETTER = 0.5;
const TOKENS_PER_IDEOGRAPH = 1;
const SAMPLE_CHARS = 50_000;

/**
 * Returns the estimated tokens per character of the texts, by their scripts: 0.25 for English. Reads the first 50,000
 * characters.
 */
export function tokensPerCharOf(texts: Iterable<string>): number {
  let chars = 0;
  let tokens = 0;
  for (const text of texts) {
    const sample = text.slice(0, SAMPLE_CHARS - chars);
    for (let at = 0; at < sample.length; at += 1) tokens += tokensOfUnit(sample.charCodeAt(at));
    chars += sample.length;
    if (chars >= SAMPLE_CHARS) break;
  }
  return chars === 0 ? TOKENS_PER_CHAR : tokens / chars;
}

function tokensOfUnit(unit: number): number {
  if (unit < 0x80) return TOKENS_PER_CHAR;
  return unit < 0x2e80 ? TOKENS_PER_LETTER : TOKENS_PER_IDEOGRAPH;
}

export function estimateTokens(text: string): number {
  return tokensOfChars(text.length);
}

export function instructionTokens({ instructions }: Instructed): number {
  const text = instructions ?? '';
  return Math.ceil(text.length * tokensPerCharOf([text]));
}

/** Returns how many tokens the context may fill: a share of what the instructions leave of the window. */
export function tokensAllowed(run: Instructed & Pick<ChainInput, 'contextWindowTokens' | 'thresholds'>): number {
  return Math.floor((run.contextWindowTokens - instructionTokens(run)) * run.thresholds.windowShare);
}

/** Returns the estimated tokens of a summary: as many per character as in the original. */
export function summaryTokens(tokens: number, content: string, summary: string): number {
  return Math.ceil((tokens * summary.length) / Math.max(1, content.length));
}

type Bounded = Pick<ChainState, 'limits' | 'sessionId' | 'interruption' | 'requestedValue'>;

/** Milliseconds to store the turn of a stopped run: whoever stopped it should not wait longer. */
const STOPPED_MS = 250;

export function phaseDeadlineMs({ phaseMs }: Pick<Limits, 'phaseMs'>, phase: Phase): number {
  return typeof phaseMs === 'number' ? phaseMs : phaseMs[phase];
}

interface Deadlines {
  readonly runMs: number;
  readonly synthesisMs: number;
  readonly sessionMs: number;
}

/**
 * Milliseconds until the phases must end, those reserved for the text of the answer and as many for its value, and, with a session,
 * those for storing the turn; all within `totalMs`.
 */
export function deadlines({ limits, sessionId, interruption, requestedValue }: Bounded): Deadlines {
  const synthesisMs = Math.min(limits.synthesisMs, limits.totalMs / 4);
  const stopped = interruption?.kind === 'cancelled' || interruption?.kind === 'interrupted';
  const maxSessionMs = Math.min(limits.sessionMs, limits.totalMs / 8);
  const sessionMs = sessionId === null ? 0 : stopped ? Math.min(STOPPED_MS, maxSessionMs) : maxSessionMs;
  const answerMs = requestedValue === undefined ? synthesisMs : 2 * synthesisMs;
  return { runMs: limits.totalMs - answerMs - sessionMs, synthesisMs, sessionMs };
}

interface Adjustment {
  readonly limits?: Readonly<Record<string, Limits[keyof Limits] | undefined>> | undefined;
  readonly thresholds?: Readonly<Record<string, number | undefined>> | undefined;
}

/**
 * Changes limits and thresholds for the rest of the run. One invalid limit leaves all limits unchanged, and one invalid
 * threshold all thresholds. Delays already running are unaffected. A cost limit is invalid if the price of a model is unknown.
 */
export function adjust(state: ChainState, { limits, thresholds }: Adjustment): Partial<ChainState> {
  const nextLimits = limitsSchema.safeParse({ ...state.limits, ...limits });
  const nextThresholds = thresholdsSchema.safeParse({ ...state.thresholds, ...thresholds });
  const isPriced = state.prices.length > state.fallbackModels && !state.prices.includes(null) && !state.hasGrader;
  const isValid = nextLimits.success && (nextLimits.data.maxCost === null || isPriced);
  return {
    ...(isValid && { limits: nextLimits.data }),
    ...(nextThresholds.success && { thresholds: nextThresholds.data }),
  };
}

interface Instructed {
  readonly instructions: string | null;
}

/**
 * Returns the instructions for the prompt of a task; null if there are none. Summaries do not get them: rules for an answer would
 * change what is kept. All phases do, because their prompts begin alike so that providers cache them.
 */
export function instructionsFor({ instructions }: Instructed, task: PromptName): string | null {
  return task === 'summary' ? null : instructions;
}

type Reserved = Pick<AttemptPolicy, 'maxCost' | 'prices' | 'maxOutputTokens'>;

const MILLION = 1_000_000;

/** The highest price of a prompt token: any of them may be read from the provider's cache or written to it. */
const promptPrice = (price: Price): number =>
  Math.max(price.inputPerMillion, price.cachedInputPerMillion ?? 0, cacheWritePrice(price));

/**
 * Whether a call could exceed the cost limit, given what was spent: its maximum cost is that of a prompt of these tokens and the model's
 * longest reply. A call whose price or longest reply is unknown could always exceed it.
 */
export function costExceeds(
  { maxCost, prices, maxOutputTokens }: Reserved,
  model: number,
  spent: number | null,
  promptTokens: number,
): GuardResult {
  if (maxCost === null) return { holds: false, inputs: {} };
  const [price = null, replyTokens = null] = [prices[model], maxOutputTokens[model]];
  const mostCost =
    price === null || replyTokens === null
      ? null
      : (promptTokens * promptPrice(price) + replyTokens * price.outputPerMillion) / MILLION;
  const fits = mostCost !== null && spent !== null && spent + mostCost <= maxCost;
  return { holds: !fits, inputs: { mostCost, spent, maxCost } };
}

/** Keeps a sum below the limit in spite of rounding errors. */
const EXACT = 1 - 1e-12;

/** Returns the maximum number of prompt tokens with which a call stays within the cost limit; null without a limit. */
export function promptTokensLeft(policy: Reserved, model: number, { cost }: Usage): number | null {
  const { maxCost, prices, maxOutputTokens } = policy;
  if (maxCost === null) return null;
  const [price = null, replyTokens = 0] = [prices[model], maxOutputTokens[model]];
  if (price === null || costExceeds(policy, model, cost, 0).holds) return 0;
  const perToken = promptPrice(price);
  const left = (maxCost - (cost ?? 0)) * MILLION - replyTokens * price.outputPerMillion;
  return perToken === 0 ? null : Math.max(0, Math.floor((left / perToken) * EXACT));
}

/** Returns the policy with what the run has left of its cost limit after these calls. */
export function afterSpending(policy: AttemptPolicy, { cost }: Usage): AttemptPolicy {
  const { maxCost } = policy;
  return maxCost === null ? policy : { ...policy, maxCost: Math.max(0, maxCost - (cost ?? maxCost)) };
}

/** Returns what the run may still spend on calls that start now, without the share reserved for an early call. Null: no limit. */
export function remainingCost({ limits, usage, early }: ChainState): number | null {
  const { maxCost } = limits;
  return maxCost === null ? null : Math.max(0, maxCost - (usage.cost ?? maxCost) - (early?.maxCost ?? 0));
}
