import type { ChainState } from '../contracts/chain-state.ts';
import {
  type Approval,
  type ConsentChoice,
  type ConsentGiver,
  type ConsentRequest,
  type ContextOperation,
  consentChoiceSchema,
} from '../contracts/context.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { preview } from '../text/summary.ts';
import { attachmentLabels } from './attachments.ts';
import { asksConsent, isLoss, KEPT_BY_DEFAULT, KEPT_BY_USER } from './context.ts';

/** One question for all operations that affect user content; null if there are none. */
export function consentRequest(
  operations: readonly ContextOperation[],
  messages: readonly Message[],
): ConsentRequest | null {
  const asking = operations.filter(asksConsent);
  if (asking.length === 0) return null;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const items = asking.map((operation) => {
    const { content = '', role = 'user', attachments = [] } = byId.get(operation.target) ?? {};
    return {
      operationId: operation.id,
      messageId: operation.target,
      role,
      preview: `${preview(content)}${attachments.length === 0 ? '' : ` ${attachmentLabels(attachments)}`}`,
      chars: content.length,
      summary: operation.operation === 'TRANSFORM' ? operation.data.content : '',
      reason: operation.reason,
    };
  });
  return { items };
}

type Planned = Pick<ChainState, 'evaluation' | 'consent'>;

const operationsAsking = ({ evaluation }: Planned): number => (evaluation?.operations ?? []).filter(asksConsent).length;

/** Whether the user is asked: the plan has operations that need consent. */
export function consentNeeded(state: Planned): GuardResult {
  const messages = operationsAsking(state);
  return { holds: messages > 0, inputs: { messages } };
}

/** Whether an option decides about the operations that need consent, so that no one is asked. */
export function consentDecided(state: Planned): GuardResult {
  const messages = operationsAsking(state);
  return { holds: messages > 0 && state.consent !== 'ask', inputs: { messages, consent: state.consent } };
}

/** Whether the user has overruled every operation that needed consent, so that no question is left. */
export function consentSettled(state: Planned): GuardResult {
  const messages = operationsAsking(state);
  return { holds: messages === 0, inputs: { messages } };
}

/** Returns the operations as planned; with approval of all, each that shortens or removes a message needs consent. */
export function withApproval(operations: readonly ContextOperation[], approval: Approval): readonly ContextOperation[] {
  if (approval !== 'all') return operations;
  return operations.map((operation) =>
    isLoss(operation) ? { ...operation, metadata: { ...operation.metadata, requiresConsent: true } } : operation,
  );
}

/** Reads a choice. Anything but a clear "summarize" or "remove" keeps the message, so a typing error loses nothing. */
export function readChoice(given: unknown): ConsentChoice {
  return knownChoice(given) ?? 'keep';
}

function knownChoice(given: unknown): ConsentChoice | undefined {
  const word = typeof given === 'string' ? given.trim().toLowerCase() : '';
  return consentChoiceSchema.safeParse(word === 'summarise' ? 'summarize' : word).data;
}

const KEPT_BY: Record<ConsentGiver, string> = {
  user: 'kept by the user',
  option: 'kept by an option',
  default: 'kept because there was no one to ask',
  'time-out': 'kept because no one answered in time',
};

/**
 * Applies the user's decision: `choice` to every operation that needs consent, and `items` to single messages by id,
 * whether or not they need it. Kept messages are tagged so that no one is asked again in this run; tag and reason record
 * who decided, or that the reply was not understood.
 */
export function resolveConsent(
  operations: readonly ContextOperation[],
  choice: unknown,
  items: Readonly<Record<string, unknown>> = {},
  by: ConsentGiver = 'user',
): readonly ContextOperation[] {
  return operations.map((operation): ContextOperation => {
    const { id, target, metadata } = operation;
    const itemChoice = Object.hasOwn(items ?? {}, target) ? items[target] : undefined;
    if (itemChoice === undefined && !asksConsent(operation)) return operation;
    // Other operations lose no content, so there is nothing to override.
    if (!isLoss(operation)) return operation;
    const given = knownChoice(itemChoice === undefined ? choice : itemChoice);
    const decided = given ?? 'keep';
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
    const isUnderstood = given !== undefined;
    const kept = isUnderstood ? KEPT_BY[by] : 'kept because the reply was not understood';
    return {
      operation: 'TAG',
      id,
      target,
      data: { tags: [isUnderstood && by === 'user' ? KEPT_BY_USER : KEPT_BY_DEFAULT] },
      code: isUnderstood && (by === 'user' || by === 'option') ? 'user_consent' : 'no_consent',
      reason: consent === decided ? kept : 'kept because no summary of it was planned',
      metadata: resolved,
    };
  });
}
