import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { PostChainError as DurableError } from '../../durable/error.ts';
import type { OpenJournalOptions } from '../../durable/journals/journal-store.ts';
import { fileIn } from '../../llm/content.ts';
import { attachRun, type ChainHost, createFeed, type Run } from '../runtime/run.ts';
import { runStartOf } from './journal-format.ts';
import { requireSameChart } from './replay.ts';

/**
 * Resumes a run whose process ended: replays its journal, then continues live. Finished calls are not repeated; a call in flight is made
 * again, a partial reply is discarded, and delays wait for their remaining time. The time in which no process ran it does not count. A run
 * that has ended is returned with its answer.
 *
 * @throws PostChainError `invalid_journal` if this chain cannot continue the run.
 */
export async function resumeRun(
  host: ChainHost,
  runId: string,
  { signal, ...open }: OpenJournalOptions & { readonly signal?: AbortSignal | undefined },
): Promise<Run> {
  const feed = createFeed();
  const actor = await host.machine
    .open(runId, { ...open, mustExist: true, isPaused: true, onEntry: feed.take })
    .catch(cannotResume(runId));
  const { run, begin, abortOn } = attachRun(host, actor, feed);
  begin();
  if (actor.getSnapshot().status === 'active') abortOn(signal);
  return run;
}

function cannotResume(runId: string) {
  return (error: unknown): never => {
    if (DurableError.isInstance(error) && error.code === 'diverged')
      throw new PostChainError('invalid_journal', `Cannot resume ${runId}: ${error.message}`, { cause: error });
    throw error;
  };
}

/**
 * Throws `invalid_journal` if another version of the chart recorded the run, or if the bytes of a file are missing: the journal is redacted, or
 * the process ended while it was written.
 */
export function requireResumable(entries: readonly JournalEntry[]): void {
  const start = runStartOf(entries);
  requireSameChart(start);
  if (entries.some(({ type }) => type === 'answer')) return;
  for (const { attachments = [] } of [start, ...start.messages])
    for (const attachment of attachments) fileIn(entries, attachment);
}
