import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';

/**
 * The context after some operations [C3]: a new list, the old one untouched. An operation on a message that is not there, and
 * an ADD of an id that is, change nothing. Linear in messages plus operations.
 */
export function applyOperations(
  messages: readonly Message[],
  operations: readonly ContextOperation[],
): readonly Message[] {
  if (operations.length === 0) return messages;
  const byId = new Map(messages.map((message) => [message.id, message]));
  for (const operation of operations) {
    if (operation.operation === 'ADD') {
      const { message } = operation.data;
      if (!byId.has(message.id)) byId.set(message.id, message);
      continue;
    }
    const message = byId.get(operation.target);
    if (message === undefined) continue;
    if (operation.operation === 'PRUNE') byId.delete(operation.target);
    else byId.set(operation.target, changed(message, operation));
  }
  return [...byId.values()];
}

type Change = Exclude<ContextOperation, { operation: 'ADD' | 'PRUNE' }>;

function changed(message: Message, change: Change): Message {
  switch (change.operation) {
    case 'TAG':
      return { ...message, tags: [...new Set([...message.tags, ...change.data.tags])] };
    case 'TRANSFORM':
      return { ...message, content: change.data.content, tags: [...new Set([...message.tags, 'summary'])] };
    case 'LINK':
      return { ...message, links: [...message.links, change.data] };
    case 'PRIORITIZE':
      return { ...message, importance: change.data.importance };
    default: {
      const never: never = change;
      return never;
    }
  }
}
