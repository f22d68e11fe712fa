import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { RunLog } from '../log/run-log.ts';
import type { RunFold } from './run-fold.ts';
import { stateAt } from './state-at.ts';

/** The context of a run at an entry, and what it was read from. */
export interface ContextAt {
  /** The states that the journal keeps, or else the operations that it tells. */
  readonly by: 'states' | 'operations';
  readonly messages: readonly Message[];
  /** The state at that entry; null where the journal keeps none. */
  readonly state: ChainState | null;
}

const contexts = new WeakMap<object, ContextAt>();

/** The same object as long as the context is the same. */
export function contextAt(log: RunLog, { places, context }: RunFold, seq: number): ContextAt {
  const state = stateAt(log, places, seq) as ChainState | null;
  if (state !== null && Array.isArray(state.messages))
    return remembered(state, () => ({ by: 'states', messages: state.messages, state }));
  const messages = context.messagesAt(seq);
  return remembered(messages, () => ({ by: 'operations', messages, state: null }));
}

function remembered(key: object, make: () => ContextAt): ContextAt {
  const there = contexts.get(key);
  if (there !== undefined) return there;
  const made = make();
  contexts.set(key, made);
  return made;
}
