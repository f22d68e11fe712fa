import type { ChainState } from '../../machines/contracts/chain-state.ts';
import { withChanges } from '../../src/journal/state-changes.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Places } from './places.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/**
 * The state of the chart as it stood at an entry: the newest keyframe before it with the changes since, which are never more than a
 * keyframe's worth. Null where the journal has no states, or before the first.
 */
export function stateAt(log: RunLog, places: Places, seq: number): ChainState | null {
  const from = lastUpTo(places.of('keyframe'), seq);
  if (from === undefined) return null;
  const keyframe = log.entry(from);
  if (keyframe.type !== 'keyframe') return null;
  const changes = places.of('state');
  let state: unknown = keyframe.state;
  for (const at of changes.slice(countUpTo(changes, from), countUpTo(changes, seq))) {
    const entry = log.entry(at);
    if (entry.type === 'state') state = withChanges(state, entry.changes);
  }
  return state as ChainState;
}
