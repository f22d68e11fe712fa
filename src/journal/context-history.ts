import type { ContextDocument } from '../../machines/contracts/context-document.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { initialMessages } from '../../machines/policies/progress.ts';

/**
 * The context of a run as a document: what it began with, recalled from its session or given, and every operation that was applied to it, in order [U12]. A fold of the
 * journal; `contextOf` gives the messages, `undo` takes an operation back.
 */
export function contextHistory(entries: Iterable<JournalEntry>): ContextDocument {
  let initial: ContextDocument['initial'] = [];
  const operations: ContextDocument['operations'][number][] = [];
  for (const entry of entries) {
    if (entry.type === 'run-start') initial = initialMessages(entry);
    if (entry.type === 'session-recalled') initial = [...entry.messages, ...initial];
    if (entry.type === 'operations') operations.push(...entry.applied);
  }
  return { initial, operations, undone: [] };
}
