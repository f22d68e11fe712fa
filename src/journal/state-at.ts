import type { RecordedState } from '../../machines/contracts/chain-state.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { withChanges } from '../engine/recording/state-changes.ts';

/**
 * Returns the chart's context at an entry, without reports in flight: the latest keyframe before it, with the changes since. Null if the
 * journal records no states, or none before the entry.
 */
export function stateAt(entries: readonly JournalEntry[], seq: number): RecordedState | null {
  const from = entries.findLastIndex((entry) => entry.seq <= seq && entry.type === 'keyframe');
  const keyframe = entries[from];
  if (keyframe?.type !== 'keyframe') return null;
  let state: unknown = keyframe.state;
  for (let at = from + 1; at < entries.length && at <= seq; at += 1) {
    const entry = entries[at];
    if (entry?.type === 'state') state = withChanges(state, entry.changes);
  }
  return state as RecordedState;
}
