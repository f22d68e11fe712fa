import {
  type JournalEntry,
  NOTES,
  type Note,
  type RunStart,
  STIMULI,
  type Stimulus,
} from '../../machines/contracts/journal-entry.ts';
import type { JournalWriter } from '../journal/stores/journal-store.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { type OpenRun, openRun } from '../runtime/open-run.ts';
import type { Divergence } from './divergence.ts';
import { sameEntry } from './same-entry.ts';

export interface Rehearsal {
  readonly opened: OpenRun;
  readonly divergence: Divergence | null;
}

/** What comes behind the recording, where the run goes on. */
export interface Afterwards {
  readonly atMs: () => number;
  readonly writer: JournalWriter;
}

/**
 * Plays what was recorded on the real charts: they are fed with what came from outside, in its order, and make everything else anew.
 * No call is made and no time passes. It ends with the recording, or where the two first differ.
 */
export function rehearse(
  start: RunStart,
  recorded: readonly JournalEntry[],
  parts: ChainParts,
  afterwards?: Afterwards,
): Rehearsal {
  const last = recorded.at(-1)?.atMs ?? 0;
  const isSame = sameEntry(start);
  const opened = openRun(start, {
    parts,
    atMs: (seq) => recorded[seq]?.atMs ?? afterwards?.atMs() ?? last,
    ...(afterwards && { writer: writerBehind(afterwards.writer, recorded.length) }),
  });
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

/** What is recorded is written already. */
function writerBehind(writer: JournalWriter, recorded: number): JournalWriter {
  return {
    get failure() {
      return writer.failure;
    },
    write: (entry) => {
      if (entry.seq >= recorded) writer.write(entry);
    },
    close: () => writer.close(),
  };
}
