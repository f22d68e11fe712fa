import type { EarlyReply } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { CallEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import { LOST } from '../../../machines/policies/failures.ts';
import { fileIn } from '../../llm/content.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { liveExecutor } from '../runtime/durable-actor.ts';
import type { ChainActor, Run } from '../runtime/run.ts';
import { createRunClock } from '../runtime/run-clock.ts';
import type { OpenedJournal } from './journal-format.ts';
import { runStartOf } from './journal-format.ts';
import { divergenceText, replayEntries, requireSameChart } from './replay.ts';

/**
 * Resumes a run whose process ended: replays its journal, then continues live. Finished calls are not repeated; a call in flight is made
 * again, a partial reply is discarded, and delays wait for their remaining time. The time in which no process ran it does not count. A run
 * that has ended is returned with its answer.
 *
 * @throws PostChainError `invalid_journal` if this chain cannot continue the run.
 */
export function resumeRun({ entries, writer }: OpenedJournal, parts: ChainParts, signal?: AbortSignal): Run {
  try {
    const start = runStartOf(entries);
    requireSameChart(start);
    if (!entries.some(({ type }) => type === 'answer')) requireFiles(start, entries);
    const clock = createRunClock(parts.clock, start.startedAtMs, entries.at(-1)?.atMs ?? 0);
    const { opened, divergence } = replayEntries(
      start,
      entries,
      { ...parts, clock },
      {
        clockAfterRecording: { atMs: clock.elapsedMs },
        writer,
        writtenEntries: entries.length,
      },
    );
    if (divergence !== null)
      throw new PostChainError('invalid_journal', `Cannot resume ${start.runId}: ${divergenceText(divergence)}`);
    const { run, durableActor, journal, abortOn } = opened;
    if (run.actor.getSnapshot().status !== 'active') return run;
    clock.start();
    journal.append({ type: 'resumed', resumedAt: new Date(parts.clock.now()).toISOString() });
    abandonPartialReplies(durableActor, entries);
    durableActor.attach(liveExecutor(clock, durableActor.deliver));
    abortOn(signal);
    return run;
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** Throws `invalid_journal` if the bytes of a file are missing: the journal is redacted, or the process ended while it was written. */
function requireFiles(start: RunStart, entries: readonly JournalEntry[]): void {
  for (const { attachments = [] } of [start, ...start.messages])
    for (const attachment of attachments) fileIn(entries, attachment);
}

/** Abandons partial replies, because a stream cannot be continued in another process: the charts must request the reply again. */
function abandonPartialReplies(
  { activities, deliver }: Pick<ChainActor, 'activities' | 'deliver'>,
  entries: readonly JournalEntry[],
): void {
  const started = new Set(entries.flatMap((entry) => (entry.type === 'call-start' ? [entry.call] : [])));
  for (const [call, { actor }] of [...activities]) {
    const event = LOST_REPLIES[actor];
    if (event !== undefined && started.has(call)) deliver({ type: 'call-event', call, actor, event });
  }
}

const LOST_REPLIES: Readonly<Record<string, CallEvent>> = {
  readReply: { type: 'reply.lost' },
  callAhead: {
    type: 'done',
    output: { value: null, failure: LOST, usage: null, openedAtMs: 0, atMs: 0 } satisfies EarlyReply,
  },
};
