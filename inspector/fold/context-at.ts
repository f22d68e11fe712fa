import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { EntryIndex } from './entry-index.ts';
import type { RunFold } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

export interface ContextAt {
  /** Known states, or context operations if there are none. */
  readonly by: 'states' | 'operations';
  readonly messages: readonly Message[];
  /** The state at that entry; null if it is unknown. */
  readonly state: ChainState | null;
}

const contexts = new WeakMap<object, ContextAt>();

/** Returns the same object while the context does not change. */
export function contextAt({ entries, context, states }: RunFold, seq: number): ContextAt {
  const state = states.at(seq) as ChainState | null;
  if (state !== null && Array.isArray(state.messages)) {
    if (!isAhead(entries, states.lastSeq(seq), seq))
      return memoized(state, () => ({ by: 'states', messages: state.messages, state }));
    const messages = context.messagesAt(seq);
    return { by: 'states', messages, state };
  }
  const messages = context.messagesAt(seq);
  return memoized(messages, () => ({ by: 'operations', messages, state: null }));
}

/** The last entry of a step's own changes: the operations of a phase follow its end. `at` is the cursor. */
export function endOfChanges({ entries }: RunFold, { kind, to }: Selection, at: number, count: number): number {
  if (kind !== 'phase' || at !== to) return at;
  const next = (type: 'operations' | 'phase-start'): number => {
    const all = entries.of(type);
    return all[countUpTo(all, to)] ?? count;
  };
  const operations = next('operations');
  return operations < Math.min(next('phase-start'), count) ? operations : at;
}

/** Whether context operations follow the latest state: it is that after all effects of an external event. */
function isAhead(entries: EntryIndex, stateSeq: number, seq: number): boolean {
  return BEFORE_STATES.some((type) => (lastUpTo(entries.of(type), seq) ?? -1) > stateSeq);
}

const BEFORE_STATES = ['operations', 'session-recalled'] as const;

function memoized(key: object, make: () => ContextAt): ContextAt {
  const cached = contexts.get(key);
  if (cached !== undefined) return cached;
  const created = make();
  contexts.set(key, created);
  return created;
}
