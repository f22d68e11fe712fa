import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';

/**
 * The context after some operations [C3]: a new list, the old one untouched. An operation on a message that is not there, on an id
 * that two messages have, and an ADD of an id that is there, change nothing. Linear in messages plus operations.
 */
export function applyOperations(
  messages: readonly Message[],
  operations: readonly ContextOperation[],
): readonly Message[] {
  if (operations.length === 0) return messages;
  const list: (Message | null)[] = [...messages];
  const places = placesById(messages);
  for (const operation of operations) {
    if (operation.operation === 'ADD') {
      const { message } = operation.data;
      if (places.has(message.id)) continue;
      places.set(message.id, list.push(message) - 1);
      continue;
    }
    const place = places.get(operation.target) ?? SHARED;
    const message = list[place] ?? null;
    if (message === null) continue;
    if (operation.operation === 'PRUNE') {
      list[place] = null;
      places.delete(operation.target);
    } else list[place] = changed(message, operation);
  }
  return list.filter((message) => message !== null);
}

/** The place of an id that more than one message has: no operation can mean one of them. */
const SHARED = -1;

function placesById(messages: readonly Message[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [place, { id }] of messages.entries()) places.set(id, places.has(id) ? SHARED : place);
  return places;
}

/** Ids that more than one message has. */
export function sharedIds(messages: readonly Message[]): ReadonlySet<string> {
  return new Set([...placesById(messages)].flatMap(([id, place]) => (place === SHARED ? [id] : [])));
}

type Change = Exclude<ContextOperation, { operation: 'ADD' | 'PRUNE' }>;

function changed(message: Message, change: Change): Message {
  switch (change.operation) {
    case 'TAG':
      return { ...message, tags: [...new Set([...message.tags, ...change.data.tags])] };
    case 'TRANSFORM':
      return { ...message, content: change.data.content, tags: [...new Set([...message.tags, 'summary'])] };
    case 'LINK':
      return { ...message, links: [...message.links.filter((link) => !isSame(link, change.data)), change.data] };
    case 'PRIORITIZE':
      return { ...message, importance: change.data.importance };
    default: {
      const never: never = change;
      return never;
    }
  }
}

type Link = Message['links'][number];

/** A link that stands is made again with its new strength, and not twice. */
const isSame = (one: Link, other: Link): boolean => one.to === other.to && one.relation === other.relation;
