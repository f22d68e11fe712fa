import {
  type JournalEntry,
  NOTES,
  type Note,
  type RunStart,
  STIMULI,
  type Stimulus,
} from '../../../machines/contracts/journal-entry.ts';
import type { JournalWriter } from '../../../machines/contracts/journal-store.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { type OpenRun, openRun } from '../../engine/runtime/open-run.ts';
import type { World } from '../../engine/runtime/stage.ts';
import type { Divergence } from './divergence.ts';
import { type SameEntry, sameEntry } from './same-entry.ts';

export interface Rehearsal {
  readonly opened: OpenRun;
  readonly divergence: Divergence | null;
}

export interface RehearsalOptions {
  /** What the clock says behind the recording, where the run goes on. */
  readonly afterwards?: { readonly atMs: () => number };
  readonly writer?: JournalWriter;
  /** Who hears what the charts ask. */
  readonly world?: World;
  /** Whether an entry came out as it should; as it is written unless said otherwise. */
  readonly isSame?: SameEntry;
}

/**
 * Plays what was recorded on the real charts: they are fed with what came from outside, in its order, and make everything else anew.
 * No call is made and no time passes. It ends with the recording, or where the two first differ.
 */
export function rehearse(
  start: RunStart,
  recorded: readonly JournalEntry[],
  parts: ChainParts,
  { afterwards, writer, world, isSame = sameEntry(start) }: RehearsalOptions = {},
): Rehearsal {
  const last = recorded.at(-1)?.atMs ?? 0;
  const opened = openRun(start, {
    parts,
    atMs: (seq) => recorded[seq]?.atMs ?? afterwards?.atMs() ?? last,
    ...(writer && { writer }),
  });
  if (world !== undefined) opened.stage.enter(world);
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
