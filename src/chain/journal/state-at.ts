import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { withChanges } from '../recording/state-changes.ts';
import { type PostChainOptions, resolveOptions } from '../runtime/options.ts';
import type { Run } from '../runtime/run.ts';
import { isReplayable, replaySteps } from './replay.ts';

/** The chart's state after an entry, without `inFlight`. */
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
 * Returns every state of a run, computed by a replay. If the run cannot be replayed (another version of the chart, other
 * prompts, another actor system), returns only the recorded states.
 *
 * @throws PostChainError `invalid_journal` if recorded states contradict each other.
 */
export function stateHistory(
  entries: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): StateHistory {
  const states: StateAfter[] = [];
  const steps = stateSteps(entries, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { states, problem: value };
    states.push(...value);
  }
}

/**
 * Yields the states of a run, one batch per entry, except that the first covers two, so that other work can run in between. Entries may be
 * appended to the list until the step after its last entry. Returns the `problem` of `stateHistory`.
 */
export function* stateSteps(
  entries: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): Generator<readonly StateAfter[], string | null> {
  const [start] = entries;
  if (start?.type !== 'run-start' || !isReplayable(start)) {
    const states = recordedStates(entries);
    yield states;
    if (start?.type !== 'run-start') return null;
    return states.length === 0
      ? 'Another version of the chart recorded the run, so its state is unknown.'
      : 'Another version of the chart recorded the run, so its state is known at keyframes only.';
  }
  let states: StateAfter[] = [];
  let seq = 0;
  const steps = replaySteps(start, entries, resolveOptions(options), {
    onEntry: (entry) => {
      seq = entry.seq;
    },
    onState: ({ inFlight: _, ...state }) => {
      states.push({ seq, state });
    },
  });
  for (;;) {
    const { done, value } = steps.next();
    const divergedAt = done ? (value.divergence?.seq ?? null) : null;
    const found = divergedAt === null ? states : states.filter((one) => one.seq < divergedAt);
    states = [];
    yield found;
    if (!done) continue;
    if (divergedAt === null) return null;
    yield recordedStates(entries.slice(divergedAt));
    return `The run does not replay from entry ${divergedAt}, so its state after it is known at keyframes only.`;
  }
}

/**
 * Returns the keyframes, with the changes between them that the journals of other actor systems have. Throws `invalid_journal` for a
 * change that does not fit the state before it.
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
 * Returns the chart's state after an entry, without `inFlight`; null if it is unknown, see `stateHistory`. The first call for a list
 * of entries replays the run; pass the run's custom prompts.
 *
 * @throws PostChainError `invalid_journal` if recorded states contradict each other.
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

/**
 * Passes the states of a live run to a listener: first those so far, computed by a replay, then each new one.
 */
export function watchStates(run: Pick<Run, 'journal' | 'actor'>, onState: (state: StateAfter) => void): void {
  try {
    for (const state of stateHistory([...run.journal]).states) onState(state);
  } catch {
    // Earlier states are unknown, for example because an entry is not JSON.
  }
  run.actor.subscribe(({ context: { inFlight: _, ...state } }) => onState({ seq: run.journal.length - 1, state }));
}
