import { existsSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { contextOf, undo } from '../../machines/policies/context-document.ts';
import { preview } from '../../machines/policies/summary.ts';
import { count, oneLine } from '../internal/printable.ts';
import { contextHistory } from '../journal/context-history.ts';
import { contextChanges, type ListedOperation, listOperations } from '../journal/context-report.ts';
import { readJournal } from '../journal/read-journal.ts';
import { operationsText, sizeOf, undoText } from './context-text.ts';
import { findRun, type JournalFlags } from './open-journals.ts';
import { colorsFor, columnsOf } from './screen.ts';

export interface ContextFlags extends JournalFlags {
  readonly undo?: readonly string[];
  readonly json?: boolean;
}

/** `postchain context`: what was done to the context of a run, and what it would be without some of it [U12]. Nothing is written. */
export async function contextCommand(path: string, flags: ContextFlags, stdout = process.stdout): Promise<string> {
  const entries = await relevantEntries(path, flags);
  const start = entries.find((entry) => entry.type === 'run-start');
  if (start === undefined) throw new PostChainError('invalid_journal', `${path}: no run begins in it.`);
  const operations = listOperations(entries);
  const undone = chosenOperations(operations, flags.undo ?? [], path);
  const history = contextHistory(entries);
  const before = contextOf(history);
  const after = contextOf(undone.reduce((document, { operation: { id } }) => undo(document, id), history));
  const changes = contextChanges(before, after);
  if (flags.json) {
    const listed = operations.map(({ operation, ...where }) => ({ ...where, ...operation }));
    const ids = undone.map(({ operation: { id } }) => id);
    return `${JSON.stringify({ operations: listed, messages: after, undone: ids, changes }, null, 2)}\n`;
  }
  const page = {
    colors: colorsFor(stdout),
    columns: columnsOf(stdout),
  };
  if (undone.length > 0) return `${undoText(undone, changes, [before, after], page)}\n`;
  const title = oneLine(preview(start.request, 100));
  const sizes = `${sizeOf(history.initial)} → ${sizeOf(before)} by ${count(operations.length, 'operation')}`;
  return `${[title, sizes, '', operationsText(operations, page)].join('\n').trimEnd()}\n`;
}

const KEPT: ReadonlySet<JournalEntry['type']> = new Set(['run-start', 'session-recalled', 'operations']);

/** The rest of a journal, a line for every piece of text, is not kept. */
async function relevantEntries(path: string, flags: JournalFlags): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of await journalOf(path, flags)) if (KEPT.has(entry.type)) entries.push(entry);
  return entries;
}

/** A journal file, or one of those that are kept. */
async function journalOf(name: string, flags: JournalFlags): Promise<AsyncIterable<JournalEntry>> {
  if (existsSync(name) || name.endsWith('.jsonl')) return readJournal(name);
  const { store, runId } = await findRun(name, flags);
  return store.read(runId);
}

function chosenOperations(
  operations: readonly ListedOperation[],
  ids: readonly string[],
  path: string,
): readonly ListedOperation[] {
  const byId = new Map(operations.map((listed) => [listed.operation.id, listed]));
  return [...new Set(ids)].map((id) => {
    const listed = byId.get(id);
    if (listed !== undefined) return listed;
    throw new PostChainError('invalid_option', `There is no operation "${id}": postchain context ${path} lists them.`);
  });
}
