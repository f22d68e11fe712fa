import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal-entry.ts';

/** What a journal begins with. Throws `invalid_journal`. */
export function startOf([start]: readonly JournalEntry[]): RunStart {
  if (start?.type === 'run-start') return start;
  throw new PostChainError(
    'invalid_journal',
    `The journal begins with ${start === undefined ? 'nothing' : `"${start.type}"`}; wanted "run-start".`,
  );
}
