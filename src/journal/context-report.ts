import type { ContextOperation } from '../../machines/contracts/context-operation.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import { initialMessages } from '../../machines/policies/progress.ts';

/** An operation of a run: which step and phase made it, and the characters of its target before and after, null where it is not there. */
export interface ListedOperation {
  readonly step: number;
  readonly phase: Phase;
  readonly operation: ContextOperation;
  readonly before: number | null;
  readonly after: number | null;
}

/** The operations of a run, in order. A phase applies what the phase before it made: the journal tells it where it is applied [C3]. */
export function listOperations(entries: Iterable<JournalEntry>): readonly ListedOperation[] {
  const { listed, take } = operationList();
  for (const entry of entries) take(entry);
  return listed;
}

/** The same, entry by entry: what was applied stands at the end of `listed` after each. */
export function operationList(): { readonly listed: readonly ListedOperation[]; take(entry: JournalEntry): void } {
  const listed: ListedOperation[] = [];
  const chars = new Map<string, number>();
  let made: { readonly step: number; readonly phase: Phase } | null = null;
  return {
    listed,
    take(entry) {
      for (const { id, content } of begunWith(entry)) chars.set(id, content.length);
      if (entry.type !== 'operations') return;
      const { step, phase } = made ?? entry;
      for (const operation of entry.applied) {
        const before = chars.get(operation.target) ?? null;
        const after = charsAfter(operation, before);
        if (after === null) chars.delete(operation.target);
        else chars.set(operation.target, after);
        listed.push({ step, phase, operation, before, after });
      }
      made = { step: entry.step, phase: entry.phase };
    },
  };
}

/** The messages that an entry tells a run to begin with. */
export function begunWith(entry: JournalEntry): readonly Message[] {
  if (entry.type === 'run-start') return initialMessages(entry);
  return entry.type === 'session-recalled' ? entry.messages : [];
}

/** As `applyOperations` has it: what is there is not added again, and what is not there is not changed. */
function charsAfter(operation: ContextOperation, before: number | null): number | null {
  if (operation.operation === 'ADD') return before ?? operation.data.message.content.length;
  if (before === null || operation.operation === 'PRUNE') return null;
  return operation.operation === 'TRANSFORM' ? operation.data.content.length : before;
}

/** What undoing does to one message: it comes back, it is another, or it goes. */
export interface ContextChange {
  readonly messageId: string;
  readonly change: 'back' | 'changed' | 'gone';
  readonly before: Message | null;
  readonly after: Message | null;
}

/** The messages that differ between two contexts of one run, in their order. */
export function contextChanges(before: readonly Message[], after: readonly Message[]): readonly ContextChange[] {
  const old = new Map(before.map((message) => [message.id, message]));
  const kept = new Set(after.map(({ id }) => id));
  const changes: ContextChange[] = [];
  for (const message of after) {
    const was = old.get(message.id) ?? null;
    if (was === null) changes.push({ messageId: message.id, change: 'back', before: null, after: message });
    else if (was !== message && JSON.stringify(was) !== JSON.stringify(message))
      changes.push({ messageId: message.id, change: 'changed', before: was, after: message });
  }
  for (const message of before)
    if (!kept.has(message.id)) changes.push({ messageId: message.id, change: 'gone', before: message, after: null });
  return changes;
}

export function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}
