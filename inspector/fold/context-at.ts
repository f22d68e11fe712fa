import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { withChanges } from '../../src/engine/recording/state-changes.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { Places } from './places.ts';
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

/** A state is recorded after all effects of an external event; context operations are recorded before it. */
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

interface Known {
  readonly keyframe: number;
  /** The last change that is in it. */
  readonly seq: number;
  readonly state: unknown;
}

/** The number of cached states: at the cursor, the compared one, and one more. */
const AT_HAND = 3;
const known = new WeakMap<RunLog, Known[]>();

/**
 * The chart's state at an entry (for other actor systems: the contexts of its actors): the latest keyframe plus the
 * changes since. Returns the same object while nothing changes. Null before the first state, or if the journal has
 * none.
 */
export function stateAt(log: RunLog, places: Places, seq: number): unknown {
  const from = lastUpTo(places.of('keyframe'), seq);
  if (from === undefined) return null;
  const all = places.of('state');
  const end = countUpTo(all, seq);
  const last = Math.max(from, all[end - 1] ?? 0);
  const there = known.get(log) ?? [];
  const same = there.find((one) => one.seq === last);
  if (same !== undefined) return same.state;
  const near = there
    .filter((one) => one.keyframe === from && one.seq < last)
    .reduce<Known | null>((best, one) => (best === null || one.seq > best.seq ? one : best), null);
  const keyframe = log.entry(from);
  if (keyframe.type !== 'keyframe') return null;
  let state: unknown = near?.state ?? keyframe.state;
  for (const at of all.slice(countUpTo(all, near?.seq ?? from), end)) {
    const entry = log.entry(at);
    if (entry.type === 'state') state = withChanges(state, entry.changes);
  }
  known.set(log, [{ keyframe: from, seq: last, state }, ...there].slice(0, AT_HAND));
  return state;
}
