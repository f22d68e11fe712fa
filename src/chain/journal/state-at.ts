import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
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
 * Returns every state of a run, computed by a replay. If the run cannot be replayed (another version of the chart,
 * another actor system), returns only the recorded states.
 *
 * @throws PostChainError `invalid_journal` if recorded states contradict each other.
 */
export function stateHistory(entries: readonly JournalEntry[]): StateHistory {
  const states: StateAfter[] = [];
  const steps = stateSteps(entries);
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
export function* stateSteps(entries: readonly JournalEntry[]): Generator<readonly StateAfter[], string | null> {
  const [start] = entries;
  if (start?.type !== 'start' || !isReplayable(start)) {
    if (start?.type !== 'start') return null;
    return 'Another version of the chart recorded the run, so its state is unknown.';
  }
  const steps = replaySteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      if (value === null) return null;
      return `The run does not replay from entry ${value.seq}, so its state after it is unknown.`;
    }
    const { seq, state } = value;
    const { inFlight: _, ...shown } = state;
    yield [{ seq, state: shown }];
  }
}

const histories = new WeakMap<
  readonly JournalEntry[],
  { readonly length: number; readonly states: readonly StateAfter[] }
>();

/**
 * Returns the chart's state after an entry, without `inFlight`; null if it is unknown, see `stateHistory`. The first call for a list
 * of entries replays the run.
 *
 * @throws PostChainError `invalid_journal` if recorded states contradict each other.
 */
export function stateAt(entries: readonly JournalEntry[], seq: number): RecordedState | null {
  let known = histories.get(entries);
  if (known?.length !== entries.length) {
    known = { length: entries.length, states: stateHistory(entries).states };
    histories.set(entries, known);
  }
  return known.states.findLast((one) => one.seq <= seq)?.state ?? null;
}

/**
 * Passes the states of a live run to a listener: first those so far, computed by a replay, then each new one.
 */
export function watchStates(run: Pick<Run, 'entries' | 'ref'>, onState: (state: StateAfter) => void): void {
  try {
    for (const state of stateHistory([...run.entries]).states) onState(state);
  } catch {
    // Earlier states are unknown, for example because an entry is not JSON.
  }
  run.ref.subscribe(({ context: { inFlight: _, ...state } }) => onState({ seq: run.entries.length - 1, state }));
}
