import type { Usage } from '../../contracts/budget.ts';
import type { Budget } from '../../contracts/synthesis.ts';
import type { SynthesisInput } from '../../contracts/synthesis-input.ts';
import { isKnown } from '../degradation.ts';
import { addUsage } from '../usage.ts';
import type { ReadSynthesisInput } from './read-input.ts';

/** The bounds of the run, and what it used of them: `spent` is what synthesis used. */
export function budgetOf(read: ReadSynthesisInput, spent: Usage): Budget {
  const { run, totalPasses, ttlRemaining } = read.input;
  const { limits, usage, elapsedMs } = run;
  const left = isKnown(read, 'ttlRemaining') ? ttlRemaining : null;
  const known = left === null || !isKnown(read, 'totalPasses') ? null : held(totalPasses + left);
  return {
    tokens: counted(limits.maxTokens, tokensOf(usage)),
    modelCalls: counted(limits.maxModelCalls, usage.modelCalls),
    totalMs: { limit: limits.totalMs, used: elapsedMs === null ? null : Math.round(elapsedMs) },
    ttl: { limit: limits.maxCycles ?? known, used: totalPasses, left },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: tokensOf(spent) },
  };
}

/** All that the run and its synthesis used. */
export function totalUsage({ run }: SynthesisInput, spent: Usage): Usage {
  const { modelCalls, inputTokens, outputTokens, estimated, cost } = addUsage(run.usage, spent);
  return {
    modelCalls: held(modelCalls),
    inputTokens: held(inputTokens),
    outputTokens: held(outputTokens),
    estimated,
    cost: cost === null ? null : Math.min(cost, Number.MAX_VALUE),
  };
}

/** In the currency of the prices; null where either is not known. */
export function costOf({ run: { currency } }: SynthesisInput, { cost }: Usage) {
  return cost === null || currency === null ? null : { amount: Number(cost.toPrecision(12)), currency };
}

function counted(limit: number | null, used: number): Budget['tokens'] {
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}

const tokensOf = ({ inputTokens, outputTokens }: Usage): number => held(inputTokens + outputTokens);

/** What a sum can be counted to. */
const held = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);
