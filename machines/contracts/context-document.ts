import type { ContextOperation } from './context-operation.ts';
import type { Message } from './message.ts';

/**
 * A context as an event-sourced document: the messages that it began with, everything that was done to them, and the ids of the
 * operations that are undone. The context itself is a fold of it, and is stored nowhere.
 */
export interface ContextDocument {
  readonly initial: readonly Message[];
  readonly operations: readonly ContextOperation[];
  readonly undone: readonly string[];
}
