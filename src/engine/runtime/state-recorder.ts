import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { Journal } from '../recording/journal.ts';
import { changesBetween } from '../recording/state-changes.ts';

const LEAST_ENTRIES = 256;
/** Roughly what an entry takes: a keyframe that is due after so many of them as it is long takes a fraction of the journal. */
const ENTRY_CHARS = 150;

/** Writes how the state of the chart changes, and now and then all of it, so that any state can be had without those long before it. */
export function createStateRecorder({ entries, append }: Journal) {
  let state: ChainState | null = null;
  let due = 0;
  return (next: ChainState): void => {
    if (next === state) return;
    if (state === null || entries.length >= due) {
      append({ type: 'keyframe', state: next });
      due = entries.length + Math.max(LEAST_ENTRIES, Math.ceil(JSON.stringify(next).length / ENTRY_CHARS));
    } else append({ type: 'state', changes: changesBetween(state, next) });
    state = next;
  };
}
