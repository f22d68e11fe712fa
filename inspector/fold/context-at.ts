import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Places } from './places.ts';
import type { RunFold } from './run-fold.ts';
import { lastUpTo } from './sorted.ts';
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
  if (state !== null && Array.isArray(state.messages)) {
    if (!isBehind(places, seq)) return remembered(state, () => ({ by: 'states', messages: state.messages, state }));
    const messages = context.messagesAt(seq);
    return { by: 'states', messages, state };
  }
  const messages = context.messagesAt(seq);
  return remembered(messages, () => ({ by: 'operations', messages, state: null }));
}

/** A state is told once all is done that something from outside led to; what was done to the context is told before. */
function isBehind(places: Places, seq: number): boolean {
  const told = Math.max(...[places.of('keyframe'), places.of('state')].map((seqs) => lastUpTo(seqs, seq) ?? -1));
  return BEFORE_STATES.some((type) => (lastUpTo(places.of(type), seq) ?? -1) > told);
}

const BEFORE_STATES = ['operations', 'session-recalled'] as const;

function remembered(key: object, make: () => ContextAt): ContextAt {
  const there = contexts.get(key);
  if (there !== undefined) return there;
  const made = make();
  contexts.set(key, made);
  return made;
}
