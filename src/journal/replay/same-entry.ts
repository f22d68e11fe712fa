import type { JournalEntry, RunStart } from '../../../machines/contracts/journal-entry.ts';

export type SameEntry = (recorded: JournalEntry, replayed: JournalEntry) => boolean;

/**
 * Whether an entry came out as it was recorded: byte for byte, as it is written. Of a journal that was redacted only the way through the
 * charts can be told: what its texts were is gone, and with them the numbers that were made of them.
 */
export function sameEntry({ redacted }: RunStart): SameEntry {
  const seen = redacted ? wayOf : (entry: JournalEntry): unknown => entry;
  return (recorded, replayed) => JSON.stringify(seen(recorded)) === JSON.stringify(seen(replayed));
}

/** What an entry says of the way that a run took. */
function wayOf(entry: JournalEntry): unknown {
  if (entry.type !== 'transition') return [entry.seq, entry.type];
  const { machine, event, source, target, candidates } = entry;
  return [entry.seq, machine, event, source, target, candidates.map(({ guard, verdict }) => [guard, verdict])];
}
