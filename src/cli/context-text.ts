import type { Message } from '../../machines/contracts/message.ts';
import { preview } from '../../machines/policies/summary.ts';
import { count, cutEnd, cutStart, grouped, oneLine } from '../internal/printable.ts';
import { type ContextChange, charsOf, type ListedOperation } from '../journal/context-report.ts';
import type { Colors } from './screen.ts';

/** How a table is shown: `columns` is infinite where lines are not cut. */
export interface TablePage {
  readonly colors: Colors;
  readonly columns: number;
}

/** A target may take a fifth of a line, so that there is room for the reason. */
const targetChars = (columns: number): number => Math.max(12, Math.floor(columns / 5));

/** The operations of a run as a table: id, operation, target, characters, and why; grouped by what made them. */
export function operationsText(operations: readonly ListedOperation[], { colors, columns }: TablePage): string {
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
    const row = `  ${id}  ${kind}  ${target}  ${size}  ${oneLine(listed.operation.reason)}`;
    lines.push(cutEnd(row, columns));
  }
  return lines.join('\n');
}

function cellsOf({ operation: { id, operation, target }, before, after }: ListedOperation, columns: number) {
  return [oneLine(id), operation, cutStart(oneLine(target), targetChars(columns)), sizeText(before, after)];
}

function sizeText(before: number | null, after: number | null): string {
  if (before === null) return after === null ? 'not there' : `+${grouped(after)}`;
  if (after === null) return `-${grouped(before)}`;
  return before === after ? '' : `${grouped(before)} → ${grouped(after)}`;
}

/** What undoing gives: the messages that come back, change or go, and the size of the context. */
export function undoText(
  undone: readonly ListedOperation[],
  changes: readonly ContextChange[],
  [before, after]: readonly [readonly Message[], readonly Message[]],
  { colors, columns }: TablePage,
): string {
  const without = undone.map(({ operation: { id, operation, target, reason } }) =>
    cutEnd(`  ${oneLine(id)}  ${operation}  ${oneLine(target)}: ${oneLine(reason)}`, columns),
  );
  const effects = changes.map((change) => cutEnd(`  ${changeText(change, columns)}`, columns));
  return [
    colors.bold('Without'),
    ...without,
    '',
    colors.bold('What it changes'),
    ...(effects.length === 0 ? ['  no message: nothing is left of what it did'] : effects),
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

export function sizeOf(messages: readonly Message[]): string {
  return `${count(messages.length, 'message')}, ${count(charsOf(messages), 'character')}`;
}
