import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { planRetention, type RetentionInputs } from '../../../machines/policies/retention.ts';
import { estimatedMeasures } from '../../../machines/policies/understanding.ts';

export type EvaluatedInputs = Omit<RetentionInputs, 'tokens' | 'similarity' | 'mayAsk'>;

/** What Understanding would do with a context whose tokens are estimated, and that has no embeddings. */
export function evaluated(inputs: EvaluatedInputs): readonly ContextOperation[] {
  return planRetention({ ...inputs, mayAsk: true, ...estimatedMeasures(inputs.messages) }).operations;
}

export function tokensOf(messages: readonly Message[]): number {
  return estimatedMeasures(messages).tokens.reduce((sum, tokens) => sum + tokens, 0);
}
