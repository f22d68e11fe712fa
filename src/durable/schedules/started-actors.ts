import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Json } from '../codec.ts';
import { durableFormat } from '../durable-format.ts';
import { type ActorSummary, type JournalStore, listedJournal } from '../journals/journal-store.ts';

/** A durable machine whose actors schedules start. */
export interface ScheduledHost {
  readonly machineId: string;
  readonly journals: JournalStore;
  start(
    id: string,
    options: { readonly input?: never; readonly isPaused?: boolean; readonly product?: Json },
  ): { close(): Promise<void> };
  /** With it, actors are enqueued. */
  readonly queue?: object | undefined;
  enqueue?(id: string, options: { readonly input?: never; readonly product?: Json }): Promise<boolean>;
}

interface StartingHost<Options> {
  readonly journals: JournalStore;
  start(id: string, options: Options & { readonly isPaused: true }): { close(): Promise<void> };
  /** With it, actors are enqueued. */
  readonly queue?: object | undefined;
  enqueue?(id: string, options: Options): Promise<boolean>;
}

/** Starts an actor unless there is one with this id. It makes no call in this process: its host, or a worker, continues it. */
export async function startOnce<Options extends object>(
  host: StartingHost<Options>,
  id: string,
  options: Options,
): Promise<void> {
  if ((await statusOf(host.journals, id)) !== null) return;
  try {
    if (host.queue && host.enqueue) await host.enqueue(id, options);
    else await host.start(id, { ...options, isPaused: true }).close();
  } catch (error) {
    if (!PostChainError.isInstance(error) || !['journal_exists', 'journal_held'].includes(error.code)) throw error;
  }
  if ((await statusOf(host.journals, id)) === null)
    throw new PostChainError('journal_failed', `actor ${id}: its journal could not be written; it is tried again.`);
}

/** Returns the status of an actor; null if there is none. */
export async function statusOf(journals: JournalStore, id: string): Promise<ActorSummary['status'] | null> {
  if (journals.bounds === undefined) return (await journals.list()).find((actor) => actor.id === id)?.status ?? null;
  for await (const found of journals.bounds({ ids: [id] }))
    if (found.id === id) return durableFormat.summarize(listedJournal(found)).status;
  return null;
}
