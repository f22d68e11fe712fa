import type { ContextDocument } from '../contracts/context-document.ts';
import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';
import { applyOperations } from './context.ts';

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
