import type { Block } from './document.ts';

/** Returns lines `from` (inclusive) to `to` (exclusive) of a block's text as a block. The range must not be empty. */
function sliceLines(block: Block, from: number, to: number): Block {
  const lines = block.lines.slice(from, to);
  return {
    ...block,
    text: block.text.split('\n').slice(from, to).join('\n'),
    startLine: lines[0] ?? block.startLine,
    endLine: lines.at(-1) ?? block.endLine,
    lines,
  };
}

/** Returns the block with its line numbers increased. */
export function shiftLines(block: Block, by: number): Block {
  if (by === 0) return block;
  const lines = block.lines.map((line) => line + by);
  return { ...block, startLine: block.startLine + by, endLine: block.endLine + by, lines };
}

/** Whether a paragraph introduces the list or code that follows it: it ends with a colon. */
export const introduces = (text: string): boolean => /[:：]["'*_)]*\s*$/.test(text);

/** Joins each list with the paragraph that introduces it, so that "The rules are:" stays with the rules. */
export function joinLeadIns(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const before = joined.at(-1);
    if (block.kind === 'list' && before !== undefined && isLeadIn(before, block)) {
      joined[joined.length - 1] = {
        ...block,
        text: `${before.text}\n${block.text}`,
        startLine: before.startLine,
        lines: [...before.lines, ...block.lines],
      };
    } else joined.push(block);
  }
  return joined;
}

function isLeadIn(before: Block, list: Block): boolean {
  return before.kind === 'prose' && before.heading.join('\n') === list.heading.join('\n') && introduces(before.text);
}

/** Returns code in a fence that is longer than any in it. */
export function fenced(code: string, language = ''): string {
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

const MAX_INDENTS = 20;

/** Returns the spaces before an item of a list inside `depth` others: two per level, up to 20 levels. */
export function indentOf(depth: number): string {
  return '  '.repeat(Math.min(depth, MAX_INDENTS));
}

const DELIMITER_ROW = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Whether a line is the delimiter row below a table's header. */
export function isDelimiterRow(line: string | undefined): boolean {
  return line?.includes('|') === true && line.includes('-') && DELIMITER_ROW.test(line);
}

/** Whether a line looks like a row of a table. */
export function isTableRow(line: string | undefined): boolean {
  return line !== undefined && /^\s*\|.*\|\s*$/.test(line);
}

/** Returns the trimmed cells of a table row. */
export function cellsOf(row: string): string[] {
  return row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Splits a paragraph that contains a table into prose and table; rows of the table then start with a bar. Returns other blocks as they are. */
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

/** A paragraph, list item, table row or line of code as one line, even if the file wraps it. */
export interface LogicalLine {
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The index in `text` at which each line of the file starts. */
  readonly wraps: readonly { readonly at: number; readonly line: number }[];
}

/** Matches the marker of a list item: a bullet or a number, with its indent. */
export const LIST_ITEM = /^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+(?=\S|$)/;

/** Returns the lines of a block with hard wraps undone. */
export function logicalLines(block: Block): LogicalLine[] {
  const logical: { text: string; startLine: number; endLine: number; wraps: { at: number; line: number }[] }[] = [];
  let open: string | null = null;
  for (const [at, text] of block.text.split('\n').entries()) {
    const line = block.lines[at] ?? block.startLine;
    const fence = /^\s*(`{3,})/.exec(text)?.[1] ?? null;
    const last = logical.at(-1);
    if (last === undefined || open !== null || fence !== null || startsLine(block, text, at)) {
      logical.push({ text, startLine: line, endLine: line, wraps: [{ at: 0, line }] });
    } else {
      last.wraps.push({ at: last.text.length + 1, line });
      last.text += ` ${text.trim()}`;
      last.endLine = line;
    }
    if (open === null) open = fence;
    else if (text.trim() === open) open = null;
  }
  return logical;
}

function startsLine(block: Block, text: string, at: number): boolean {
  if (block.kind === 'code') return true;
  if (block.kind === 'table') return text.startsWith('|');
  return at > 0 && block.kind === 'list' && LIST_ITEM.test(text);
}
