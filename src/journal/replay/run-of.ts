import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal-entry.ts';
import { chartVersion } from '../../engine/runtime/run.ts';

/** What a journal begins with. Throws `invalid_journal`. */
export function startOf([start]: readonly JournalEntry[]): RunStart {
  if (start?.type === 'run-start') return start;
  throw new PostChainError(
    'invalid_journal',
    `The journal begins with ${start === undefined ? 'nothing' : `"${start.type}"`}; wanted "run-start".`,
  );
}

/** What another chart made of the same events says nothing of where this one would stand. */
export function requireSameChart({ runId, chart }: RunStart): void {
  const { id, digest } = chartVersion();
  if (chart.id === id && chart.digest === digest) return;
  throw new PostChainError(
    'invalid_journal',
    `${runId}: it is a run of the chart ${chart.id} ${chart.digest}; wanted one of ${id} ${digest}, as this PostChain has it.`,
  );
}
