import type { ChainState } from '../../contracts/chain-state.ts';
import type { ContextOperation } from '../../contracts/context-operation.ts';
import type { Message } from '../../contracts/message.ts';
import type { Phase } from '../../contracts/phase.ts';
import type { PhaseResult } from '../../contracts/phases/result.ts';

/** What a phase makes of a validated reply: its result, what it hands on, and the operations it appends [C3]. */
export interface PhaseOutput<Result extends PhaseResult = PhaseResult> {
  readonly result: Result;
  readonly content: string;
  readonly operations: readonly ContextOperation[];
}

/** A message of the engine's, before it has an id. */
export function draftMessage(
  state: ChainState,
  phase: Phase,
  atMs: number,
  given: Pick<Message, 'role' | 'content'> & Partial<Message>,
): Omit<Message, 'id'> & { readonly id?: string } {
  return {
    phase,
    createdAtMs: atMs,
    cycle: state.recursion.cycle,
    tags: [],
    importance: 0.5,
    links: [],
    references: [],
    source: null,
    ...given,
  };
}
