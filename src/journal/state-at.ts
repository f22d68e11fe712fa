import type { RecordedState } from '../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { withChanges } from '../engine/recording/state-changes.ts';
import { type PostChainOptions, resolveOptions } from '../engine/runtime/options.ts';
import { runStartOf } from './journal-lines.ts';
import { isReplayable, replayEntries } from './replay.ts';

/** The chart's state after an entry, without reports in flight. */
export interface StateAfter {
  readonly seq: number;
  readonly state: RecordedState;
}

export interface StateHistory {
  /** In order. Consecutive states share what did not change. */
  readonly states: readonly StateAfter[];
  /** Why the states are incomplete; null if they are complete. */
  readonly problem: string | null;
}

/**
 * Returns every state of a run, computed by replaying it. If it cannot be replayed (another version of the chart or of the format, or other
 * prompts), only the recorded keyframes are returned.
 *
 * @throws PostChainError `invalid_journal` if the first entry is not `run-start`, or if recorded states contradict each other.
 */
export function stateHistory(
  entries: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): StateHistory {
  const start = runStartOf(entries);
  if (!isReplayable(start))
    return {
      states: recordedStates(entries),
      problem: 'The run was recorded with another version of the chart: its state is known at keyframes only.',
    };
  const states: StateAfter[] = [];
  let seq = 0;
  const { divergence } = replayEntries(start, entries, resolveOptions(options), {
    onEntry: (entry) => {
      seq = entry.seq;
    },
    onState: ({ inFlight: _, ...state }) => {
      states.push({ seq, state });
    },
  });
  if (divergence === null) return { states, problem: null };
  return {
    states: [...states.filter((one) => one.seq < divergence.seq), ...recordedStates(entries.slice(divergence.seq))],
    problem: `The run does not replay from entry ${divergence.seq}: after it, the state is known at keyframes only.`,
  };
}

/**
 * Returns the keyframes, with the changes between them that version 1 of the format recorded. Throws `invalid_journal` for a change that
 * does not fit the state before it.
 */
function recordedStates(entries: readonly JournalEntry[]): readonly StateAfter[] {
  const states: StateAfter[] = [];
  for (const entry of entries) {
    const last = states.at(-1)?.state;
    if (entry.type === 'keyframe') states.push({ seq: entry.seq, state: entry.state });
    else if (entry.type === 'state' && last !== undefined) states.push({ seq: entry.seq, state: changed(last, entry) });
  }
  return states;
}

function changed(state: RecordedState, { seq, changes }: Extract<JournalEntry, { type: 'state' }>): RecordedState {
  try {
    return withChanges(state, changes) as RecordedState;
  } catch (cause) {
    const message = `entry ${seq}: its changes do not fit the state before it; expected a journal as it was recorded`;
    throw new PostChainError('invalid_journal', message, { cause });
  }
}

const histories = new WeakMap<
  readonly JournalEntry[],
  { readonly length: number; readonly states: readonly StateAfter[] }
>();

/**
 * Returns the chart's state after an entry, without reports in flight. The first call for a list of entries replays the run; pass the same
 * custom prompts as in the run. Null if the state is unknown there: see `stateHistory`.
 *
 * @throws PostChainError `invalid_journal` if the first entry is not `run-start`, or if recorded states contradict each other.
 */
export function stateAt(
  entries: readonly JournalEntry[],
  seq: number,
  options: Pick<PostChainOptions, 'prompts'> = {},
): RecordedState | null {
  let known = histories.get(entries);
  if (known?.length !== entries.length) {
    known = { length: entries.length, states: stateHistory(entries, options).states };
    histories.set(entries, known);
  }
  return known.states.findLast((one) => one.seq <= seq)?.state ?? null;
}
