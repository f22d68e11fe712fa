import type { ContextDocument, ContextOperation } from '../../../machines/contracts/context.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import { initialMessages } from '../../../machines/policies/progress.ts';

/**
 * Returns the context of a run as a document, built from its journal: the initial messages (given, or recalled from its session) and
 * every applied operation, in order, with those that the user undid in the run. `contextOf` computes the messages; `undo` reverts one
 * operation.
 */
export function contextHistory(entries: Iterable<JournalEntry>): ContextDocument {
  let initial: ContextDocument['initial'] = [];
  const operations: ContextDocument['operations'][number][] = [];
  const undone: string[] = [];
  for (const entry of entries) {
    if (entry.type === 'start') initial = initialMessages(entry.input);
    if (entry.type === 'session-recalled') initial = [...entry.messages, ...initial];
    if (entry.type === 'operations') operations.push(...entry.applied);
    if (entry.type === 'context-overruled') undone.push(...entry.undone);
  }
  return { initial, operations, undone };
}

/**
 * An applied operation: the step and phase that requested it, the size of its target in characters, null if there is no target, and the
 * journal entry in which the user undid it, null if it still counts.
 */
export interface ListedOperation {
  readonly step: number;
  readonly phase: Phase;
  readonly operation: ContextOperation;
  readonly before: number | null;
  readonly after: number | null;
  readonly undoneAt: number | null;
}

/** Lists operations entry by entry: `take` appends to `listed` what an entry applied. */
export function operationList(): { readonly listed: readonly ListedOperation[]; take(entry: JournalEntry): void } {
  const listed: ListedOperation[] = [];
  const chars = new Map<string, number>();
  // A phase applies the operations that the phase before it requested.
  let requestedBy: { readonly step: number; readonly phase: Phase } | null = null;

  /** The target is as it was before a PRUNE or TRANSFORM that is undone. */
  function undoListed(id: string, seq: number): void {
    const at = listed.findLastIndex(({ operation }) => operation.id === id);
    const found = listed[at];
    if (found === undefined) return;
    listed[at] = { ...found, undoneAt: seq };
    if (found.operation.operation === 'ADD') chars.delete(found.operation.target);
    else if (found.before !== null) chars.set(found.operation.target, found.before);
  }
  return {
    listed,
    take(entry) {
      for (const { id, content } of startMessages(entry)) chars.set(id, content.length);
      if (entry.type === 'context-overruled') for (const id of entry.undone) undoListed(id, entry.seq);
      if (entry.type !== 'operations') return;
      const { step, phase } = requestedBy ?? entry;
      for (const operation of entry.applied) {
        const before = chars.get(operation.target) ?? null;
        const after = charsAfter(operation, before);
        if (after === null) chars.delete(operation.target);
        else chars.set(operation.target, after);
        listed.push({ step, phase, operation, before, after, undoneAt: null });
      }
      requestedBy = { step: entry.step, phase: entry.phase };
    },
  };
}

/** Returns the messages that an entry adds to the context before the first phase. */
export function startMessages(entry: JournalEntry): readonly Message[] {
  if (entry.type === 'start') return initialMessages(entry.input);
  return entry.type === 'session-recalled' ? entry.messages : [];
}

/** Follows `applyOperations`: an existing message is not added again, and a missing one is not changed. */
function charsAfter(operation: ContextOperation, before: number | null): number | null {
  if (operation.operation === 'ADD') return before ?? operation.data.message.content.length;
  if (before === null || operation.operation === 'PRUNE') return null;
  return operation.operation === 'TRANSFORM' ? operation.data.content.length : before;
}
