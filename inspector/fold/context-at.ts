import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { withChanges } from '../../src/engine/recording/state-changes.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { EntryIndex } from './entry-index.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/** The context of a run at an entry, and its source. */
export interface ContextAt {
  /** Recorded states, or context operations if there are none. */
  readonly by: 'states' | 'operations';
  readonly messages: readonly Message[];
  /** The state at that entry; null if the journal has none. */
  readonly state: ChainState | null;
}

const contexts = new WeakMap<object, ContextAt>();

/** Returns the same object while the context does not change. */
export function contextAt(log: RunLog, { entries, context }: RunFold, seq: number): ContextAt {
  const state = stateAt(log, entries, seq) as ChainState | null;
  if (state !== null && Array.isArray(state.messages)) {
    if (!isBehind(entries, seq)) return memoized(state, () => ({ by: 'states', messages: state.messages, state }));
    const messages = context.messagesAt(seq);
    return { by: 'states', messages, state };
  }
  const messages = context.messagesAt(seq);
  return memoized(messages, () => ({ by: 'operations', messages, state: null }));
}

/** A state is recorded after all effects of an external event; context operations are recorded before it. */
function isBehind(entries: EntryIndex, seq: number): boolean {
  const latestState = Math.max(
    ...[entries.of('keyframe'), entries.of('state')].map((seqs) => lastUpTo(seqs, seq) ?? -1),
  );
  return BEFORE_STATES.some((type) => (lastUpTo(entries.of(type), seq) ?? -1) > latestState);
}

const BEFORE_STATES = ['operations', 'session-recalled'] as const;

function memoized(key: object, make: () => ContextAt): ContextAt {
  const cached = contexts.get(key);
  if (cached !== undefined) return cached;
  const created = make();
  contexts.set(key, created);
  return created;
}

interface CachedState {
  readonly keyframe: number;
  /** The last change it contains. */
  readonly seq: number;
  readonly state: unknown;
}

/** The number of cached states: at the cursor, the compared one, and one more. */
const CACHE_SIZE = 3;
const cachedStates = new WeakMap<RunLog, CachedState[]>();

/**
 * The chart's state at an entry (for other actor systems: the contexts of its actors): the latest keyframe plus the
 * changes since. Returns the same object while nothing changes. Null before the first state, or if the journal has
 * none.
 */
export function stateAt(log: RunLog, entries: EntryIndex, seq: number): unknown {
  const from = lastUpTo(entries.of('keyframe'), seq);
  if (from === undefined) return null;
  const all = entries.of('state');
  const end = countUpTo(all, seq);
  const last = Math.max(from, all[end - 1] ?? 0);
  const cached = cachedStates.get(log) ?? [];
  const same = cached.find((one) => one.seq === last);
  if (same !== undefined) return same.state;
  const near = cached
    .filter((one) => one.keyframe === from && one.seq < last)
    .reduce<CachedState | null>((best, one) => (best === null || one.seq > best.seq ? one : best), null);
  const keyframe = log.entry(from);
  if (keyframe.type !== 'keyframe') return null;
  let state: unknown = near?.state ?? keyframe.state;
  for (const at of all.slice(countUpTo(all, near?.seq ?? from), end)) {
    const entry = log.entry(at);
    if (entry.type === 'state') state = withChanges(state, entry.changes);
  }
  cachedStates.set(log, [{ keyframe: from, seq: last, state }, ...cached].slice(0, CACHE_SIZE));
  return state;
}
