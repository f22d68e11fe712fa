import {
  type JournalEntry,
  NOTES,
  type Note,
  type RunStart,
  STIMULI,
  type Stimulus,
} from '../../machines/contracts/journal-entry.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { type OpenRun, openRun } from '../runtime/open-run.ts';

/** Where a replay is no longer what was recorded: the first entry that differs, null on the side that has none. */
export interface Divergence {
  readonly seq: number;
  readonly recorded: JournalEntry | null;
  readonly replayed: JournalEntry | null;
}

export interface Rehearsal {
  readonly opened: OpenRun;
  readonly divergence: Divergence | null;
}

/**
 * Plays what was recorded on the real charts: they are fed with what came from outside, in its order, and make everything else anew.
 * No call is made and no time passes. It ends with the recording, or where the two first differ.
 */
export function rehearse(start: RunStart, recorded: readonly JournalEntry[], parts: ChainParts): Rehearsal {
  const atMs = (seq: number): number => (recorded[seq] ?? recorded.at(-1))?.atMs ?? 0;
  const opened = openRun(start, { parts, atMs });
  const { stage, journal } = opened;
  stage.start();
  for (const entry of recorded) {
    const { seq } = entry;
    if (seq === 0) continue;
    if (journal.entries.length === seq) feed(opened, entry);
    const replayed = journal.entries[seq] ?? null;
    if (replayed === null || !isSame(entry, replayed))
      return { opened, divergence: { seq, recorded: entry, replayed } };
  }
  return { opened, divergence: null };
}

/** Gives the charts what came at this point; what they make themselves is not given. */
function feed({ stage, journal }: OpenRun, entry: JournalEntry): void {
  if (STIMULI.has(entry.type)) stage.deliver(entry as Stimulus);
  else if (NOTES.has(entry.type)) journal.append(entry as Note);
}

/** As they are written. */
function isSame(one: JournalEntry, other: JournalEntry): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
