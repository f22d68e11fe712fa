import {
  ANNOTATIONS,
  type Annotation,
  EXTERNAL_EVENTS,
  type ExternalEvent,
  type JournalEntry,
  type RunStart,
} from '../../../machines/contracts/journal-entry.ts';
import type { JournalWriter } from '../../../machines/contracts/journal-store.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import type { ActivityExecutor } from '../../engine/runtime/durable-actor.ts';
import { type OpenRun, openRun } from '../../engine/runtime/run.ts';
import type { Divergence } from './divergence.ts';

export interface EntriesReplay {
  readonly opened: OpenRun;
  readonly divergence: Divergence | null;
}

export interface ReplayEntriesOptions {
  /** What the clock says behind the recording, where the run goes on. */
  readonly clockAfterRecording?: { readonly atMs: () => number };
  readonly writer?: JournalWriter;
  /** Who hears what the charts ask. */
  readonly executor?: ActivityExecutor;
  /** Whether an entry came out as it should; as it is written unless said otherwise. */
  readonly isSame?: SameEntry;
}

/**
 * Plays what was recorded on the real charts: they are fed with what came from outside, in its order, and make everything else anew.
 * No call is made and no time passes. It ends with the recording, or where the two first differ.
 */
export function replayEntries(
  start: RunStart,
  recorded: readonly JournalEntry[],
  parts: ChainParts,
  { clockAfterRecording: afterwards, writer, executor: world, isSame = sameEntry(start) }: ReplayEntriesOptions = {},
): EntriesReplay {
  const last = recorded.at(-1)?.atMs ?? 0;
  const opened = openRun(start, {
    parts,
    atMs: (seq) => recorded[seq]?.atMs ?? afterwards?.atMs() ?? last,
    ...(writer && { writer }),
  });
  if (world !== undefined) opened.durableActor.attach(world);
  const { durableActor: stage, journal } = opened;
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
function feed({ durableActor: stage, journal }: OpenRun, entry: JournalEntry): void {
  if (EXTERNAL_EVENTS.has(entry.type)) stage.deliver(entry as ExternalEvent);
  else if (ANNOTATIONS.has(entry.type)) journal.append(entry as Annotation);
}

type SameEntry = (recorded: JournalEntry, replayed: JournalEntry) => boolean;

/**
 * Whether an entry came out as it was recorded: byte for byte, as it is written. Of a journal that was redacted only the way through the
 * charts can be told: what its texts were is gone, and with them the numbers that were made of them.
 */
function sameEntry({ redacted }: RunStart): SameEntry {
  const seen = redacted ? wayOf : (entry: JournalEntry): unknown => entry;
  return (recorded, replayed) => JSON.stringify(seen(recorded)) === JSON.stringify(seen(replayed));
}

/** What an entry says of the way that a run took. */
function wayOf(entry: JournalEntry): unknown {
  if (entry.type !== 'transition') return [entry.seq, entry.type];
  const { machine, event, source, target, candidates } = entry;
  return [entry.seq, machine, event, source, target, candidates.map(({ guard, verdict }) => [guard, verdict])];
}
