import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { DurableActor } from '../../durable/durable-actor.ts';
import type { RunActorOptions } from '../../durable/durable-machine.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import type { OpenJournalOptions } from '../../durable/journals/journal-store.ts';
import { oneLine } from '../../internal/printable.ts';
import { fileIn } from '../../llm/content.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { createFeed } from '../runtime/feed.ts';
import { attachRun, type ChainHost, type Run } from '../runtime/run.ts';
import { requireSameChart } from './replay.ts';
import { runStartOf } from './run-start.ts';

/**
 * Resumes a run whose process ended: replays its journal, then continues live. Finished calls are not repeated; a call in flight is made
 * again, a partial reply is discarded, and delays wait for their remaining time. The time in which no process ran it does not count. A run
 * that has ended is returned with its answer.
 *
 * @throws PostChainError `journal_held`, `unknown_journal`, `invalid_journal` or `invalid_option` if this chain cannot continue the run.
 */
export async function resumeRun(host: ChainHost, runId: string, { signal, ...open }: ResumeOptions): Promise<Run> {
  const known = host.runs.get(runId);
  if (known !== undefined) return known.run;
  const options = { ...open, ...pausedRun(host, runId), mustExist: true };
  const actor = await host.machine.open(runId, options).catch(cannotResume(runId));
  const { run, begin, abortOn } = attachOnce(host, actor);
  begin();
  if (actor.getSnapshot().status === 'active') abortOn(signal);
  return run;
}

interface ResumeOptions extends OpenJournalOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface AdvanceRunOptions {
  readonly signal?: AbortSignal;
  /** Called when the run is open, before it continues; not if this chain has it in memory. */
  readonly onOpen?: () => void;
}

function pausedRun({ writers, runs }: ChainHost, runId: string): RunActorOptions {
  const onEntry = (entry: DurableEntry): void => runs.get(runId)?.take(entry);
  return { isPaused: true, onEntry, mayPark: () => writers.isComplete(runId) };
}

/** Callers that open a run at the same time get the same actor. */
function attachOnce(host: ChainHost, actor: Parameters<typeof attachRun>[1]) {
  const known = host.runs.get(actor.id);
  return known?.run.ref === actor.ref ? known : attachRun(host, actor, createFeed());
}

/** Continues a run until it has ended, only waits, or the signal aborts. Then it has left memory. */
export async function advanceRun(host: ChainHost, runId: string, how: AdvanceRunOptions): Promise<void> {
  if (host.runs.has(runId)) return;
  const onOpen = (actor: DurableActor<never>): void => {
    how.onOpen?.();
    attachOnce(host, actor as never).begin();
  };
  const options = { ...pausedRun(host, runId), signal: how.signal, onOpen };
  await host.machine.advance(runId, options).catch(cannotResume(runId));
}

function cannotResume(runId: string) {
  return (error: unknown): never => {
    if (PostChainError.isInstance(error) && error.code === 'diverged')
      throw new PostChainError('invalid_journal', `Cannot resume ${runId}: ${error.message}`, { cause: error });
    throw error;
  };
}

/**
 * Throws `invalid_journal` if another version of the chart recorded the run, or if the bytes of a file are missing: the journal is redacted, or
 * the process ended while it was written. Throws `invalid_option` if the chain lacks a capability of the run: its calls, also those that wait
 * for approval, would fail.
 */
export function requireResumable(
  entries: readonly JournalEntry[],
  { capabilities }: Pick<ChainParts, 'capabilities'>,
): void {
  const start = runStartOf(entries);
  requireSameChart(start);
  const { runId, messages, capabilities: needed } = start.input;
  if (entries.some(({ type }) => type === 'answer')) return;
  const missing = needed.filter(({ name, client }) => !client && capabilities.get(name) === undefined);
  if (missing.length > 0)
    throw new PostChainError(
      'invalid_option',
      `Run ${oneLine(runId)} needs the tools ${missing.map(({ name }) => oneLine(name)).join(', ')}; resume it in the program that started it, or pass them in \`capabilities\` (in the CLI, --mcp and --capability)`,
    );
  for (const { attachments = [] } of [start.input, ...messages])
    for (const attachment of attachments) fileIn(entries, attachment);
}
