import { sliceLines } from './block-slice.ts';
import type { Block } from './document.ts';

const DELIMITER_ROW = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Whether a line is the row of dashes under a table's header. */
export function isDelimiterRow(line: string | undefined): boolean {
  return line?.includes('|') === true && line.includes('-') && DELIMITER_ROW.test(line);
}

/** Whether a line looks like a row of a table. */
export function isTableRow(line: string | undefined): boolean {
  return line !== undefined && /^\s*\|.*\|\s*$/.test(line);
}

/** The cells of a row, trimmed. */
export function cellsOf(row: string): string[] {
  return row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** A paragraph that holds a table (a row of dashes under a header row) as prose and table, its rows beginning with a bar; any other as it is. */
export function splitTable(block: Block | null): Block[] {
  if (block === null) return [];
  const lines = block.text.split('\n');
  const delimiter = lines.findIndex((line, at) => at > 0 && isDelimiterRow(line) && lines[at - 1]?.includes('|'));
  if (delimiter < 1) return [block];
  const rows = sliceLines(block, delimiter - 1, lines.length);
  const table = {
    ...rows,
    text: rows.text.replace(/^\s*(?!\|)/gm, '| ').replace(/^\s+/gm, ''),
    kind: 'table' as const,
  };
  return delimiter === 1 ? [table] : [sliceLines(block, 0, delimiter - 1), table];
}
