import type { Block } from './document.ts';

/** Whether a paragraph introduces the list or code that follows it: it ends with a colon. */
export const introduces = (text: string): boolean => /[:：]["'*_)]*\s*$/.test(text);

/** Returns a list with the text of the block before it. */
function joined(before: Block, list: Block): Block {
  const text = `${before.text}\n${list.text}`;
  return { ...list, text, startLine: before.startLine, lines: [...before.lines, ...list.lines] };
}

/** Joins each list with the paragraph that introduces it, so that "The rules are:" stays with the rules. */
export function joinLeadIns(blocks: readonly Block[]): Block[] {
  const made: Block[] = [];
  for (const block of blocks) {
    const before = made.at(-1);
    if (block.kind === 'list' && before !== undefined && isLeadIn(before, block))
      made[made.length - 1] = joined(before, block);
    else made.push(block);
  }
  return made;
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

const DELIMITER_ROW = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function isDelimiterRow(line: string | undefined): boolean {
  return line?.includes('|') === true && line.includes('-') && DELIMITER_ROW.test(line);
}

export function isTableRow(line: string | undefined): boolean {
  return line !== undefined && /^\s*\|.*\|\s*$/.test(line);
}

export function cellsOf(row: string): string[] {
  return row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** A paragraph, list item, table row or line of code as one line, even if the file wraps it. */
export interface LogicalLine {
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The index in `text` at which each line of the file starts. */
  readonly wraps: readonly { readonly at: number; readonly line: number }[];
}

/** Matches the marker of a list item: a bullet, number, letter or Roman numeral, with its indent. */
export const LIST_ITEM =
  /^\s*(?:[-*•–]|\(?-?\d{1,9}(?:\.\d{1,3})*[.)]|\(?(?:[a-zA-Z]|[ivxlcdm]{2,7}|[IVXLCDM]{2,7})[.)])\s+(?=\S|$)/;

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
