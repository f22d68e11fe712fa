import type { ContextOperation } from '../../machines/contracts/context.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { applyOperations } from '../../machines/policies/context.ts';
import { planRetention, type RetentionInputs } from '../../machines/policies/retention.ts';
import { estimatedMeasures } from '../../machines/policies/understanding.ts';
import { aMessage, someThresholds } from './contract-samples.ts';

export type EvaluatedInputs = Omit<RetentionInputs, 'tokens' | 'similarity' | 'mayAsk'>;

/** What Understanding would do with a context whose tokens are estimated, and that has no embeddings. */
export function plannedOperations(inputs: EvaluatedInputs): readonly ContextOperation[] {
  return planRetention({ ...inputs, mayAsk: true, ...estimatedMeasures(inputs.messages) }).operations;
}

export function estimatedTokens(messages: readonly Message[]): number {
  return estimatedMeasures(messages).tokens.reduce((sum, tokens) => sum + tokens, 0);
}

/** What no friendly user sends, and what Understanding makes of it. */

const REQUEST = 'When was the harbour bridge opened?';

export function retentionPlan(messages: readonly Message[], changes: Partial<RetentionInputs> = {}) {
  return planRetention({
    mayAsk: true,
    messages,
    ...estimatedMeasures(messages),
    request: REQUEST,
    cycle: 3,
    nowMs: 0,
    step: 1,
    assessments: [],
    thresholds: someThresholds(),
    maxMessages: 200,
    tokensAllowed: 100_000,
    ...changes,
  });
}

const requiresConsent = ({ metadata }: ContextOperation): boolean => metadata['requiresConsent'] === true;

/** What is left of a context when everything that needs no consent is done to it. */
export function applyWithoutConsent(
  messages: readonly Message[],
  changes: Partial<RetentionInputs> = {},
): readonly Message[] {
  return applyOperations(
    messages,
    retentionPlan(messages, changes).operations.filter((operation) => !requiresConsent(operation)),
  );
}

/** Whether a message must stay whatever happens, by the tags that say so [U10]. */
export const isProtected = ({ tags }: Message): boolean =>
  ['pinned', 'critical', 'request', 'kept-by-user'].some((tag) => tags.includes(tag));

/** What the users of a context said, in order. */
export const userTexts = (messages: readonly Message[]): readonly string[] =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content);

export const userMessage = (id: string, content: string, changes: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'user', phase: null, content, tags: [], ...changes });
export const searchMessage = (id: string, content: string, changes: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'search', phase: null, content, tags: [], ...changes });
export const assistantMessage = (id: string, content: string, changes: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'assistant', phase: null, content, tags: [], ...changes });
