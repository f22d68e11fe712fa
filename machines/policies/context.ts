import type { ContextDocument, ContextOperation } from '../contracts/context.ts';
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

/** A context as it began, with nothing done to it. */
export function contextDocument(initial: readonly Message[]): ContextDocument {
  return { initial, operations: [], undone: [] };
}

/** The document with more operations at its end. Nothing in it is ever written over. */
export function append(document: ContextDocument, operations: readonly ContextOperation[]): ContextDocument {
  return { ...document, operations: [...document.operations, ...operations] };
}

/** The context: a fold of the operations that are not undone over the messages that it began with. */
export function contextOf({ initial, operations, undone }: ContextDocument): readonly Message[] {
  const without = new Set(undone);
  return applyOperations(
    initial,
    operations.filter(({ id }) => !without.has(id)),
  );
}

/**
 * The document as if an operation had never been, wherever it stands [U12]: the messages are exactly those that its other
 * operations give. An id that is not there, or is undone already, changes nothing.
 */
export function undo(document: ContextDocument, id: string): ContextDocument {
  const known = document.operations.some((operation) => operation.id === id);
  if (!known || document.undone.includes(id)) return document;
  return { ...document, undone: [...document.undone, id] };
}

/** Takes an undo back. */
export function redo(document: ContextDocument, id: string): ContextDocument {
  if (!document.undone.includes(id)) return document;
  return { ...document, undone: document.undone.filter((one) => one !== id) };
}

type Kind = ContextOperation['operation'];
type Of<K extends Kind> = Extract<ContextOperation, { operation: K }>;

/** Makes the operations of one step and numbers them: `s12.o1`, `s12.o2`, … */
export interface OperationList {
  readonly all: readonly ContextOperation[];
  push<K extends Kind>(
    operation: K,
    target: string,
    data: Of<K>['data'],
    reason: string,
    metadata?: ContextOperation['metadata'],
  ): void;
  /** Adds a message under its own id, or as `s12.m1`, … */
  add(message: Omit<Message, 'id'> & { readonly id?: string }, reason: string): string;
}

export function operationsOfStep(step: number): OperationList {
  const all: ContextOperation[] = [];
  const push: OperationList['push'] = (operation, target, data, reason, metadata = {}) => {
    all.push({ operation, id: `s${step}.o${all.length + 1}`, target, data, reason, metadata } as ContextOperation);
  };
  let added = 0;
  return {
    all,
    push,
    add(message, reason) {
      added += 1;
      const id = message.id ?? `s${step}.m${added}`;
      push('ADD', id, { message: { ...message, id } }, reason);
      return id;
    },
  };
}

/** An operation that takes something away from the context. */
export type Loss = Of<'PRUNE' | 'TRANSFORM'>;

export const isLoss = (operation: ContextOperation): operation is Loss =>
  operation.operation === 'PRUNE' || operation.operation === 'TRANSFORM';

/** Whether an operation waits for the user's consent [U8]. */
export const asksConsent = ({ metadata }: ContextOperation): boolean => metadata['requiresConsent'] === true;

/** The user has answered for this message: it is kept, and not asked about again. */
export const KEPT_BY_USER = 'kept-by-user';
/** The request of this run is what everything else is held against: no rule touches it. */
export const REQUEST = 'request';

const PROTECTING: ReadonlySet<string> = new Set(['pinned', 'critical', REQUEST, KEPT_BY_USER]);

/** Whether no rule touches a message: it is pinned or critical, the request itself, or the user keeps it [U10]. */
export function isProtected({ tags }: Message): boolean {
  return tags.some((tag) => PROTECTING.has(tag));
}
