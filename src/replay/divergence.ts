import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { clipped } from '../../machines/text/clipped.ts';

/** Where a replay is no longer what was recorded: the first entry that differs, null on the side that has none. */
export interface Divergence {
  readonly seq: number;
  readonly recorded: JournalEntry | null;
  readonly replayed: JournalEntry | null;
}

const MAX_SIDE_CHARS = 300;

/** Both sides in one line. */
export function divergenceText({ seq, recorded, replayed }: Divergence): string {
  return `entry ${seq} is ${side(recorded)} in the recording, and ${side(replayed)} now`;
}

function side(entry: JournalEntry | null): string {
  return entry === null ? 'nothing' : clipped(JSON.stringify(entry), MAX_SIDE_CHARS);
}
