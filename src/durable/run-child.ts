import { PostChainError } from '../../machines/contracts/error.ts';
import { type ChildHost, type ChildOptions, childIdOf } from './child-process.ts';
import type { DurableEntry } from './entries.ts';
import { hasCode } from './error.ts';
import type { JournalStore } from './journals/journal-store.ts';
import { startOnce } from './schedules/started-actors.ts';

/** Starts a child unless it has been started. Its host, or a worker, continues it. Rejects if it has another store than its parent. */
export async function startChild(
  host: ChildHost,
  id: string,
  options: ChildOptions,
  journals: JournalStore | undefined,
): Promise<void> {
  if (journals === undefined)
    throw new PostChainError('invalid_option', `child ${id}: a child process requires createDurableMachine.`);
  const problem =
    host.journals !== journals
      ? 'expected a durable machine with the same store as its parent: pass both the same object as "journals"'
      : journals.mail === undefined && 'its store keeps no messages; use one that does, such as sqliteJournals()';
  if (problem) throw new PostChainError('invalid_option', `child ${id}: ${problem}.`);
  await startOnce(host, id, options);
  // Without this message, a worker finds it at its next poll.
  await journals.mail?.post(id, 'wake', { id: 'wake', type: 'wake' }).catch(() => {});
}

/** Stops a child, if there is one. */
export async function stopChild(host: ChildHost, id: string): Promise<void> {
  await host.stop(id).catch((error: unknown) => {
    if (!hasCode(error, 'unknown_journal')) throw error;
  });
}

/**
 * Returns the entries of a fork whose original has started children. The effects that start them have not ended, so that the fork starts children of
 * its own, if it still waits for them. `identity` is that of the fork.
 */
export function withOwnChildren(
  entries: readonly DurableEntry[],
  actorId: string,
  identity: string,
): readonly DurableEntry[] {
  const starts = new Set(entries.flatMap((entry) => (isChildStart(entry) ? [entry.effect] : [])));
  return entries.map((entry) => {
    // It contains the ids of the children of the original.
    if (entry.type === 'keyframe' && entry.state.children !== undefined)
      return { seq: entry.seq, atMs: entry.atMs, type: 'effect-end', effects: [] };
    if (entry.type === 'effect-end')
      return { ...entry, effects: entry.effects.filter((effect) => !starts.has(effect)) };
    if (!isChildStart(entry)) return entry;
    return { ...entry, subject: { child: childIdOf({ actorId, actor: entry.actor }, identity, entry.effect) } };
  });
}

const isChildStart = (entry: DurableEntry): entry is Extract<DurableEntry, { type: 'effect' }> =>
  entry.type === 'effect' && Object(entry.subject).child !== undefined && entry.action.startsWith('start ');
