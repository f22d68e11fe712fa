import type { AttemptPolicy } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Price, Usage } from '../contracts/usage.ts';
import { failureOf } from './failures.ts';
import { cacheWritePrice } from './usage.ts';

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

/** The code of a call that was not made, because it could exceed the cost limit. */
const OVER_BUDGET = 'over_budget';

export const isOverBudget = ({ code }: Failure): boolean => code === OVER_BUDGET;

export const overBudget = (): Failure =>
  failureOf(
    'aborted',
    OVER_BUDGET,
    'The model was not called, because the call could cost more than what is left of limits.maxCost.',
    { retryable: false },
  );

/** Whether the phase failed because its next call could exceed the cost limit. */
export function costLimitReached({ failure, usage, limits }: ChainState): GuardResult {
  const inputs = { cost: usage.cost, maxCost: limits.maxCost, code: failure?.failure.code ?? null };
  return { holds: failure !== null && isOverBudget(failure.failure), inputs };
}
