import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { JournalWriter, OpenedJournal } from '../../../machines/contracts/journal-store.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { liveExecutor } from '../../engine/runtime/durable-actor.ts';
import type { ChainActor, Run } from '../../engine/runtime/run.ts';
import { divergenceText } from './divergence.ts';
import { replayEntries } from './replay-entries.ts';
import { runClock } from './run-clock.ts';
import { requireSameChart, startOf } from './run-of.ts';

/**
 * Goes on with a run whose process ended: its journal is played on the charts, and from there it lives again. What was answered is not
 * asked again; a call under way is made anew, a reply that had begun is void, and delays wait for what was left of them. The time in
 * which nobody ran it does not count. A run that has ended is given as it ended.
 *
 * @throws PostChainError `invalid_journal` where this chain cannot go on with it.
 */
export function resumeRun({ entries, writer }: OpenedJournal, parts: ChainParts, signal?: AbortSignal): Run {
  try {
    const start = startOf(entries);
    requireSameChart(start);
    const clock = runClock(parts.clock, start.startedAtMs, entries.at(-1)?.atMs ?? 0);
    const { opened, divergence } = replayEntries(
      start,
      entries,
      { ...parts, clock },
      {
        clockAfterRecording: { atMs: clock.sinceStartMs },
        writer: writerBehind(writer, entries.length),
      },
    );
    if (divergence !== null)
      throw new PostChainError(
        'invalid_journal',
        `${start.runId}: ${divergenceText(divergence)}; it cannot be resumed.`,
      );
    const { run, durableActor: stage, journal, obey } = opened;
    if (run.actor.getSnapshot().status !== 'active') return run;
    journal.append({ type: 'resumed', resumedAt: new Date(parts.clock.now()).toISOString() });
    loseReplies(stage, callsIn(entries));
    stage.attach(liveExecutor(clock, stage.deliver));
    obey(signal);
    return run;
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** The calls that the process that ended had begun. */
function callsIn(entries: readonly JournalEntry[]): ReadonlySet<number> {
  return new Set(entries.flatMap((entry) => (entry.type === 'call-start' ? [entry.call] : [])));
}

/** A reply cannot be read on where another process stopped: it is asked for anew. */
function loseReplies(
  { activities, deliver }: Pick<ChainActor, 'activities' | 'deliver'>,
  begun: ReadonlySet<number>,
): void {
  for (const [call, { port }] of [...activities])
    if (port === 'readReply' && begun.has(call))
      deliver({ type: 'call-event', call, port, event: { type: 'reply.lost' } });
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
