import { existsSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { contextOf, undo } from '../../machines/policies/context.ts';
import { preview } from '../../machines/text/summary.ts';
import {
  type ContextChange,
  charsOf,
  contextChanges,
  contextHistory,
  type ListedOperation,
  listOperations,
} from '../chain/journal/context-history.ts';
import { count, cutEnd, cutStart, grouped, oneLine, printableJson } from '../internal/printable.ts';
import { readJournal } from '../journal/file-journals.ts';
import { runStartOf } from '../journal/journal-lines.ts';
import { findRun, type JournalFlags } from './find-run.ts';
import { type Colors, colorsFor, columnsOf, wrapLines } from './screen.ts';

export interface ContextFlags extends JournalFlags {
  readonly undo?: readonly string[];
  readonly json?: boolean;
}

/** `postchain context`: lists the operations on a run's context, or previews undoing some. Changes nothing. */
export async function contextCommand(path: string, flags: ContextFlags, stdout = process.stdout): Promise<string> {
  const entries = await relevantEntries(path, flags);
  const operations = listOperations(entries);
  const undone = chosenOperations(operations, flags.undo ?? [], path);
  const history = contextHistory(entries);
  const before = contextOf(history);
  const after = contextOf(undone.reduce((document, { operation: { id } }) => undo(document, id), history));
  const changes = contextChanges(before, after);
  if (flags.json) {
    const listed = operations.map(({ operation, ...where }) => ({ ...where, ...operation }));
    const ids = undone.map(({ operation: { id } }) => id);
    return `${printableJson(JSON.stringify({ operations: listed, messages: after, undone: ids, changes }, null, 2))}\n`;
  }
  const page = {
    colors: colorsFor(stdout),
    columns: columnsOf(stdout),
  };
  if (undone.length > 0) return `${undoText(undone, changes, [before, after], page)}\n`;
  const title = oneLine(preview(runStartOf(entries).request, 100));
  const sizes = `${sizeOf(history.initial)} → ${sizeOf(before)} by ${count(operations.length, 'operation')}`;
  const header = wrapLines(`${title}\n${sizes}`, stdout);
  return `${[header, '', operationsText(operations, page)].join('\n').trimEnd()}\n`;
}

const RELEVANT: ReadonlySet<JournalEntry['type']> = new Set([
  'run-start',
  'session-recalled',
  'operations',
  'context-overruled',
]);

/** Reads only the entries about the context; a journal is mostly text deltas. */
async function relevantEntries(path: string, flags: JournalFlags): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of await journalOf(path, flags)) if (RELEVANT.has(entry.type)) entries.push(entry);
  return entries;
}

/** A path that does not exist is reported as a missing file if it ends in `.jsonl`, otherwise as an unknown run. */
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
    throw new PostChainError(
      'invalid_option',
      `Unknown operation "${id}"; list the operations with: postchain context ${path}`,
    );
  });
}

/** `columns` is infinite if lines are not cut. */
interface TablePage {
  readonly colors: Colors;
  readonly columns: number;
}

/** A target takes at most a fifth of a line, to leave space for the reason. */
const targetChars = (columns: number): number => Math.max(12, Math.floor(columns / 5));

/** Formats the operations as a table (id, operation, target, characters, reason), grouped by step. */
function operationsText(operations: readonly ListedOperation[], { colors, columns }: TablePage): string {
  const rows = operations.map((listed) => ({ listed, cells: cellsOf(listed, columns) }));
  const widths = [0, 1, 2, 3].map((at) => rows.reduce((most, { cells }) => Math.max(most, cells[at]?.length ?? 0), 0));
  const lines: string[] = [];
  let group = '';
  for (const { listed, cells } of rows) {
    const name = `Step ${listed.step}: ${listed.phase}`;
    if (name !== group) lines.push(`${group === '' ? '' : '\n'}${colors.bold(name)}`);
    group = name;
    const [id = '', kind = '', target = '', size = ''] = cells.map((cell, at) =>
      at === 3 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    );
    const row = `  ${id}  ${kind}  ${target}  ${size}  ${oneLine(listed.operation.reason)}${listed.undoneAt === null ? '' : ' (undone by the user)'}`;
    lines.push(cutEnd(row, columns));
  }
  return lines.join('\n');
}

function cellsOf({ operation: { id, operation, target }, before, after }: ListedOperation, columns: number) {
  return [oneLine(id), operation, cutStart(oneLine(target), targetChars(columns)), sizeText(before, after)];
}

function sizeText(before: number | null, after: number | null): string {
  if (before === null) return after === null ? 'not found' : `+${grouped(after)}`;
  if (after === null) return `-${grouped(before)}`;
  return before === after ? '' : `${grouped(before)} → ${grouped(after)}`;
}

/** Formats the effect of undoing operations: the messages that come back, change or disappear, and the sizes. */
function undoText(
  undone: readonly ListedOperation[],
  changes: readonly ContextChange[],
  [before, after]: readonly [readonly Message[], readonly Message[]],
  { colors, columns }: TablePage,
): string {
  const operations = undone.map(({ operation: { id, operation, target, reason } }) =>
    cutEnd(`  ${oneLine(id)}  ${operation}  ${oneLine(target)}: ${oneLine(reason)}`, columns),
  );
  const effects = changes.map((change) => cutEnd(`  ${changeText(change, columns)}`, columns));
  return [
    colors.bold('Undoing'),
    ...operations,
    '',
    colors.bold('Changes'),
    ...(effects.length === 0 ? ['  none: later operations replaced its effect'] : effects),
    '',
    `${sizeOf(before)} → ${sizeOf(after)}`,
  ].join('\n');
}

function changeText({ messageId, change, before, after }: ContextChange, columns: number): string {
  const shown = after ?? before;
  const what = before !== null && after !== null ? ` (${differences(before, after).join(', ')})` : '';
  return `${change.padEnd(7)}  ${cutStart(oneLine(messageId), targetChars(columns))}${what}  "${oneLine(preview(shown?.content ?? ''))}"`;
}

function differences(before: Message, after: Message): readonly string[] {
  const listed = ({ tags }: Message): string => tags.map(oneLine).join(' ') || 'none';
  return [
    ...(before.content === after.content
      ? []
      : [`${grouped(before.content.length)} → ${grouped(after.content.length)} characters`]),
    ...(before.importance === after.importance ? [] : [`importance ${before.importance} → ${after.importance}`]),
    ...(listed(before) === listed(after) ? [] : [`tags ${listed(before)} → ${listed(after)}`]),
    ...(before.links.length === after.links.length ? [] : [`links ${before.links.length} → ${after.links.length}`]),
  ];
}

function sizeOf(messages: readonly Message[]): string {
  return `${count(messages.length, 'message')}, ${count(charsOf(messages), 'character')}`;
}
