import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { type PostChainOptions, resolveOptions } from '../../engine/runtime/options.ts';
import type { Divergence } from './divergence.ts';
import { replayEntries } from './replay-entries.ts';
import { startOf } from './run-of.ts';

export interface ReplayedRun {
  /** What the charts made of it now: the same as the recording up to `divergence`. */
  readonly journal: readonly JournalEntry[];
  readonly divergence: Divergence | null;
  /** Null where the recording ends before the run does. */
  readonly answer: FinalAnswer | null;
}

/**
 * Runs the real charts on a recorded run: no model, no network, no waiting. Every decision must come out as it was recorded, each
 * transition with what its guards saw; the first entry that does not is the `divergence`. Prompts of one's own are given again,
 * for their schemas.
 *
 * @throws PostChainError `invalid_journal` for what does not begin as a run does.
 */
export function replay(
  recorded: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): ReplayedRun {
  const { opened, divergence } = replayEntries(startOf(recorded), recorded, resolveOptions(options));
  const { entries } = opened.journal;
  const extra = entries[recorded.length] ?? null;
  const ended = recorded.some(({ type }) => type === 'run-end');
  return {
    journal: entries,
    // A recording may end in the middle of what came last; after the end of a run nothing comes.
    divergence: divergence ?? (ended && extra ? { seq: recorded.length, recorded: null, replayed: extra } : null),
    answer: entries.findLast((entry) => entry.type === 'answer')?.answer ?? null,
  };
}
