import type { TokenUsage, Usage } from '../contracts/budget.ts';

export const NO_USAGE: Usage = { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false };

/** Adds what one model call used. A sum with an estimate in it is an estimate. */
export function addCall(total: Usage, call: TokenUsage): Usage {
  return addUsage(total, { modelCalls: 1, ...call });
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    estimated: a.estimated || b.estimated,
  };
}

/** Where no tokenizer is at hand, a token has four characters. */
export const TOKENS_PER_CHAR = 0.25;

export function estimateTokens(text: string): number {
  return Math.ceil(text.length * TOKENS_PER_CHAR);
}
