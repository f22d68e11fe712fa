import type { ConsentFor, ContextDocument, ContextOperation, ReasonCode } from '../contracts/context.ts';
import type { Message } from '../contracts/message.ts';

/**
 * Applies operations to messages and returns a new list. An operation changes nothing if its target is missing or if two messages
 * have that id; an ADD changes nothing if its id exists. References to a pruned message are dropped, or moved to the message that
 * replaces it. Linear in messages plus operations.
 */
export function applyOperations(
  messages: readonly Message[],
  operations: readonly ContextOperation[],
): readonly Message[] {
  if (operations.length === 0) return messages;
  const list: (Message | null)[] = [...messages];
  const places = placesById(messages);
  let referring: Map<string, number[]> | null = null;
  for (const operation of operations) {
    if (operation.operation === 'ADD') {
      const { message } = operation.data;
      if (places.has(message.id)) continue;
      const place = list.push(message) - 1;
      places.set(message.id, place);
      if (referring !== null) noteReferences(referring, message, place);
      continue;
    }
    const place = places.get(operation.target) ?? AMBIGUOUS;
    const message = list[place] ?? null;
    if (message === null) continue;
    if (operation.operation === 'PRUNE') {
      list[place] = null;
      places.delete(operation.target);
      referring ??= referringPlaces(list);
      moveReferences(list, referring, operation);
    } else list[place] = changed(message, operation);
  }
  return list.filter((message) => message !== null);
}

function referringPlaces(list: readonly (Message | null)[]): Map<string, number[]> {
  const referring = new Map<string, number[]>();
  for (const [place, message] of list.entries()) if (message !== null) noteReferences(referring, message, place);
  return referring;
}

function noteReferences(referring: Map<string, number[]>, { references }: Message, place: number): void {
  for (const id of references ?? []) {
    const known = referring.get(id);
    if (known === undefined) referring.set(id, [place]);
    else known.push(place);
  }
}

/** Drops the references to a pruned message, or moves them to the message that replaces it. */
function moveReferences(
  list: (Message | null)[],
  referring: Map<string, number[]>,
  { target, metadata }: Of<'PRUNE'>,
): void {
  const { replacedBy } = metadata;
  const instead = typeof replacedBy === 'string' ? [replacedBy] : [];
  for (const place of referring.get(target) ?? []) {
    const message = list[place] ?? null;
    if (message === null) continue;
    const moved = message.references
      .flatMap((id) => (id === target ? instead : [id]))
      .filter((id) => id !== message.id);
    list[place] = { ...message, references: [...new Set(moved)] };
  }
  for (const id of instead) referring.set(id, (referring.get(id) ?? []).concat(referring.get(target) ?? []));
  referring.delete(target);
}

/** The place of an id that several messages have: no operation can target one of them. */
const AMBIGUOUS = -1;

function placesById(messages: readonly Message[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [place, { id }] of messages.entries()) places.set(id, places.has(id) ? AMBIGUOUS : place);
  return places;
}

function duplicateIds(messages: readonly Message[]): ReadonlySet<string> {
  return new Set([...placesById(messages)].flatMap(([id, place]) => (place === AMBIGUOUS ? [id] : [])));
}

function changed(message: Message, change: Exclude<ContextOperation, { operation: 'ADD' | 'PRUNE' }>): Message {
  switch (change.operation) {
    case 'TAG':
      return { ...message, tags: [...new Set([...message.tags, ...change.data.tags])] };
    case 'TRANSFORM':
      return { ...message, content: change.data.content, tags: [...new Set([...message.tags, SUMMARY])] };
    case 'LINK':
      return { ...message, links: [...message.links.filter((link) => !isSameLink(link, change.data)), change.data] };
    case 'PRIORITIZE':
      return { ...message, importance: change.data.importance };
  }
}

type Link = Message['links'][number];

const isSameLink = (one: Link, other: Link): boolean => one.to === other.to && one.relation === other.relation;

export function contextDocument(initial: readonly Message[]): ContextDocument {
  return { initial, operations: [], undone: [] };
}

export function append(document: ContextDocument, operations: readonly ContextOperation[]): ContextDocument {
  return { ...document, operations: [...document.operations, ...operations] };
}

/** Returns the messages of a document: its initial messages, with every operation applied that is not undone. */
export function contextOf({ initial, operations, undone }: ContextDocument): readonly Message[] {
  const without = new Set(undone);
  return applyOperations(
    initial,
    operations.filter(({ id }) => !without.has(id)),
  );
}

/**
 * Undoes one operation at any position. The messages are then those that result from the other operations. An unknown
 * id, or one that is already undone, changes nothing.
 */
export function undo(document: ContextDocument, id: string): ContextDocument {
  const known = document.operations.some((operation) => operation.id === id);
  if (!known || document.undone.includes(id)) return document;
  return { ...document, undone: [...document.undone, id] };
}

/** Applies an undone operation again. */
export function redo(document: ContextDocument, id: string): ContextDocument {
  if (!document.undone.includes(id)) return document;
  return { ...document, undone: document.undone.filter((one) => one !== id) };
}

type Kind = ContextOperation['operation'];
type Of<K extends Kind> = Extract<ContextOperation, { operation: K }>;

/** Collects the operations of one step and numbers them: `s12.o1`, `s12.o2`, … */
export interface OperationList {
  readonly all: readonly ContextOperation[];
  push<K extends Kind>(
    operation: K,
    target: string,
    data: Of<K>['data'],
    code: ReasonCode,
    reason: string,
    metadata?: ContextOperation['metadata'],
  ): void;
  /** Adds a message under its own id, or as `s12.m1`, …; returns the id. */
  add(message: Omit<Message, 'id'> & { readonly id?: string }, code: ReasonCode, reason: string): string;
}

export function operationsOfStep(step: number): OperationList {
  const all: ContextOperation[] = [];
  const push: OperationList['push'] = (operation, target, data, code, reason, metadata = {}) => {
    const id = `s${step}.o${all.length + 1}`;
    all.push({ operation, id, target, data, code, reason, metadata } as ContextOperation);
  };
  let added = 0;
  return {
    all,
    push,
    add(message, code, reason) {
      added += 1;
      const id = message.id ?? `s${step}.m${added}`;
      push('ADD', id, { message: { ...message, id } }, code, reason);
      return id;
    },
  };
}

export type Loss = Of<'PRUNE' | 'TRANSFORM'>;

export const isLoss = (operation: ContextOperation): operation is Loss =>
  operation.operation === 'PRUNE' || operation.operation === 'TRANSFORM';

export const asksConsent = ({ metadata }: ContextOperation): boolean => metadata['requiresConsent'] === true;

/** With `consentFor: 'all'`, marks each operation that shortens or removes a message as needing consent. */
export function withConsentFor(
  operations: readonly ContextOperation[],
  consentFor: ConsentFor,
): readonly ContextOperation[] {
  if (consentFor !== 'all') return operations;
  return operations.map((operation) =>
    isLoss(operation) ? { ...operation, metadata: { ...operation.metadata, requiresConsent: true } } : operation,
  );
}

/** Marks a message that the user decided to keep, so that the user is not asked about it again. */
export const KEPT_BY_USER = 'kept-by-user';
/** Marks a message that was kept for this run without the user: by an option, or because no one answered. */
export const KEPT_BY_DEFAULT = 'kept-by-default';
/** Id and tag of the message that holds the run's request. */
export const REQUEST = 'request';
const SUMMARY = 'summary';
/** Marks the result of a failed capability: it is not evidence for an answer. */
export const FAILED_TAG = 'failed';

const PROTECTING: ReadonlySet<string> = new Set(['pinned', 'critical', REQUEST, KEPT_BY_USER, KEPT_BY_DEFAULT]);

/** Whether a message must stay: it is pinned, critical, the request, or kept. */
export function isProtected({ tags }: Message): boolean {
  return tags.some((tag) => PROTECTING.has(tag));
}

/** Returns the messages that no operation affects: protected ones, the newest answers, and those with the same id. */
export function fixedMessages(messages: readonly Message[]): ReadonlySet<Message> {
  const newest = newestAnswers(messages);
  const ambiguous = duplicateIds(messages);
  return new Set(messages.filter((one) => newest.has(one) || ambiguous.has(one.id) || isProtected(one)));
}

/** Returns the newest assistant messages of this run and of the conversation before it. */
function newestAnswers(messages: readonly Message[]): ReadonlySet<Message | undefined> {
  const ofRun = messages.findLast(({ role, phase }) => role === 'assistant' && phase !== null);
  const before = messages.findLast(({ role, phase }) => role === 'assistant' && phase === null);
  return new Set([ofRun, before]);
}
