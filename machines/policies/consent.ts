import {
  type ConsentChoice,
  type ConsentGiver,
  type ConsentRequest,
  type ContextOperation,
  consentChoiceSchema,
} from '../contracts/context.ts';
import type { Message } from '../contracts/message.ts';
import { preview } from '../text/summary.ts';
import { asksConsent, isLoss, KEPT_BY_USER } from './context.ts';

/** One question for all operations that affect user content; null if there are none. */
export function consentRequest(
  operations: readonly ContextOperation[],
  messages: readonly Message[],
): ConsentRequest | null {
  const asking = operations.filter(asksConsent);
  if (asking.length === 0) return null;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const items = asking.map((operation) => {
    const content = byId.get(operation.target)?.content ?? '';
    return {
      operationId: operation.id,
      messageId: operation.target,
      preview: preview(content),
      chars: content.length,
      summary: operation.operation === 'TRANSFORM' ? operation.data.content : '',
    };
  });
  return { items };
}

/** Reads a choice. Anything but a clear "summarize" or "remove" keeps the message, so a typing error loses nothing. */
export function readChoice(given: unknown): ConsentChoice {
  const word = typeof given === 'string' ? given.trim().toLowerCase() : '';
  const parsed = consentChoiceSchema.safeParse(word === 'summarise' ? 'summarize' : word);
  return parsed.success ? parsed.data : 'keep';
}

const KEPT_BY: Record<ConsentGiver, string> = {
  user: 'kept by the user',
  option: 'kept by an option',
  default: 'kept because there was no one to ask',
  'time-out': 'kept because no one answered in time',
};

/**
 * Applies the user's decision: `choice` to every operation that needs consent, and `items` to single messages by id,
 * whether or not they need it. Kept messages are tagged so that no one is asked again; the reason records who decided.
 */
export function resolveConsent(
  operations: readonly ContextOperation[],
  choice: ConsentChoice,
  items: Readonly<Record<string, unknown>> = {},
  by: ConsentGiver = 'user',
): readonly ContextOperation[] {
  return operations.map((operation): ContextOperation => {
    const { id, target, metadata } = operation;
    const itemChoice = Object.hasOwn(items ?? {}, target) ? items[target] : undefined;
    if (itemChoice === undefined && !asksConsent(operation)) return operation;
    // Other operations lose no content, so there is nothing to override.
    if (!isLoss(operation)) return operation;
    const decided = itemChoice === undefined ? choice : readChoice(itemChoice);
    // A message without a planned summary cannot be summarized: it is kept.
    const consent = decided === 'summarize' && operation.operation !== 'TRANSFORM' ? 'keep' : decided;
    const resolved = { ...metadata, requiresConsent: false, consent };
    if (consent === 'summarize') return { ...operation, metadata: resolved };
    if (consent === 'remove')
      return {
        operation: 'PRUNE',
        id,
        target,
        data: {},
        code: 'user_consent',
        reason: 'the user agreed to remove it',
        metadata: resolved,
      };
    return {
      operation: 'TAG',
      id,
      target,
      data: { tags: [KEPT_BY_USER] },
      code: by === 'user' || by === 'option' ? 'user_consent' : 'no_consent',
      reason: consent === decided ? KEPT_BY[by] : 'kept because no summary of it was planned',
      metadata: resolved,
    };
  });
}
