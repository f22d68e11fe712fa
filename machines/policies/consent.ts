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

/** One question for all operations that touch user content, or null where none does [U8]. */
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

/** Anything but a clear "summarise" or "remove" keeps [U8]: 001's "else remove" would drop content on a typing error. */
export function readChoice(said: unknown): ConsentChoice {
  const word = typeof said === 'string' ? said.trim().toLowerCase() : '';
  const parsed = consentChoiceSchema.safeParse(word === 'summarize' ? 'summarise' : word);
  return parsed.success ? parsed.data : 'keep';
}

const KEPT_BY: Record<ConsentGiver, string> = {
  user: 'the user keeps it',
  option: 'an option given beforehand keeps it',
  nobody: 'it is kept: there was nobody to ask',
  'time-out': 'it is kept: nobody answered in time',
};

/**
 * The operations after the user's word: `choice` for all that asked, and `items` one by one for any message, also for one that
 * nobody asked about [U9]. Kept messages are tagged, so that nobody asks again; why says whether it was the user who kept them.
 */
export function resolveConsent(
  operations: readonly ContextOperation[],
  choice: ConsentChoice,
  items: Readonly<Record<string, unknown>> = {},
  by: ConsentGiver = 'user',
): readonly ContextOperation[] {
  return operations.map((operation): ContextOperation => {
    const { id, target, metadata } = operation;
    const named = Object.hasOwn(items ?? {}, target) ? items[target] : undefined;
    if (named === undefined && !asksConsent(operation)) return operation;
    // The others are no recommendation that a user would want to override.
    if (!isLoss(operation)) return operation;
    const own = named === undefined ? choice : readChoice(named);
    const said = { ...metadata, requiresConsent: false, consent: own };
    if (own === 'summarise' && operation.operation === 'TRANSFORM') return { ...operation, metadata: said };
    if (own === 'remove')
      return { operation: 'PRUNE', id, target, data: {}, reason: 'the user agreed to remove it', metadata: said };
    return {
      operation: 'TAG',
      id,
      target,
      data: { tags: [KEPT_BY_USER] },
      reason: KEPT_BY[by],
      metadata: said,
    };
  });
}
