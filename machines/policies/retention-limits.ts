import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';
import type { ContextStatistics } from '../contracts/phases/understanding.ts';
import { applyOperations } from './context.ts';
import type { OperationList } from './operations.ts';
import type { Rated } from './rating.ts';
import { estimateTokens } from './usage.ts';

interface Room {
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

/** Search results give way first, then assistant messages; user messages never. */
const RANK = { search: 0, assistant: 1, user: 2 } as const;

/** While the context is over its limits, prunes the least relevant of what is free to go [U10]. */
export function makeRoom(
  all: readonly Rated[],
  free: readonly Rated[],
  { maxMessages, tokensAllowed }: Room,
  list: OperationList,
): void {
  const tokensById = plannedTokens(all, list.all);
  let count = tokensById.size;
  let tokens = [...tokensById.values()].reduce((sum, one) => sum + one, 0);
  const within = (): boolean => count <= maxMessages && tokens <= tokensAllowed;
  if (within()) return;
  const candidates = free.filter(({ message }) => message.role !== 'user' && tokensById.has(message.id));
  candidates.sort((a, b) => RANK[a.message.role] - RANK[b.message.role] || a.relevance - b.relevance);
  for (const { message, relevance } of candidates) {
    if (within()) return;
    const why =
      tokens > tokensAllowed
        ? `${tokens} tokens are over the ${tokensAllowed} allowed`
        : `${count} messages are over the ${maxMessages} allowed`;
    list.push('PRUNE', message.id, {}, why, { relevance, role: message.role });
    count -= 1;
    tokens -= tokensById.get(message.id) ?? 0;
  }
}

/** What each message that stays will weigh: a summary that waits for consent does not count yet. */
function plannedTokens(all: readonly Rated[], planned: readonly ContextOperation[]): ReadonlyMap<string, number> {
  const tokens = new Map(all.map(({ message }) => [message.id, estimateTokens(message.content)]));
  for (const operation of planned) {
    if (operation.metadata['requiresConsent'] === true) continue;
    if (operation.operation === 'PRUNE') tokens.delete(operation.target);
    if (operation.operation === 'TRANSFORM') tokens.set(operation.target, estimateTokens(operation.data.content));
  }
  return tokens;
}

/** Size of the context before and after [U13]. */
export function statistics(
  messages: readonly Message[],
  operations: readonly ContextOperation[],
  tokensAllowed: number,
): ContextStatistics {
  const after = applyOperations(messages, operations);
  return {
    messagesBefore: messages.length,
    messagesAfter: after.length,
    tokensBefore: tokensOf(messages),
    tokensAfter: tokensOf(after),
    tokensAllowed,
  };
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message.content), 0);
}
