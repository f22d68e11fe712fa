import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart, RunSummary } from '../../../machines/contracts/journal.ts';
import type { DurableEntry } from '../../durable/entries.ts';

/** Whether the entries that begin with this one are those of a journal, as a store returns them, not those of `run.entries`. */
export const isStored = (start: JournalEntry | DurableEntry): start is DurableEntry => 'format' in start;

/** Returns the first entry of a run. Throws `invalid_journal` if it is not `start`. */
export function runStartOf([start]: readonly JournalEntry[]): RunStart {
  if (start !== undefined && isStored(start))
    throw new PostChainError(
      'invalid_journal',
      'expected the entries of a run; received those of its journal; pass the result of readRun(journal)',
    );
  if (start?.type === 'start') return start;
  throw new PostChainError(
    'invalid_journal',
    `A journal must begin with "start"; received ${start === undefined ? 'an empty journal' : `"${start.type}"`}`,
  );
}

export const startedAtOf = ({ startedAt, product }: RunStart): string => product.fork?.forkedAt ?? startedAt;

/** Returns the run and the entry that a run was forked from, or null if it is not a fork. */
export const originOf = ({ forkedFrom }: Pick<RunStart, 'forkedFrom'>): RunSummary['forkedFrom'] =>
  forkedFrom && { actorId: forkedFrom.actorId, seq: forkedFrom.seq };
