import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';

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
