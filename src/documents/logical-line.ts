import type { Block } from './document.ts';

/** A paragraph, list item, table row or line of code: one line of text, whatever lines of the file it is wrapped over. */
export interface LogicalLine {
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Where in `text` each of the file's lines begins. */
  readonly wraps: readonly { readonly at: number; readonly line: number }[];
}

/** What begins a list item: a bullet or a number, after any indent. */
export const LIST_ITEM = /^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+(?=\S|$)/;

/** A block's text with hard-wrapped lines put together again. */
export function logicalLines(block: Block): LogicalLine[] {
  const logical: { text: string; startLine: number; endLine: number; wraps: { at: number; line: number }[] }[] = [];
  let fenced = false;
  for (const [at, text] of block.text.split('\n').entries()) {
    const line = block.lines[at] ?? block.startLine;
    const fence = text.trim().startsWith('```');
    const last = logical.at(-1);
    if (last === undefined || fenced || fence || begins(block, text, at)) {
      logical.push({ text, startLine: line, endLine: line, wraps: [{ at: 0, line }] });
    } else {
      last.wraps.push({ at: last.text.length + 1, line });
      last.text += ` ${text.trim()}`;
      last.endLine = line;
    }
    if (fence) fenced = !fenced;
  }
  return logical;
}

function begins(block: Block, text: string, at: number): boolean {
  if (block.kind === 'code') return true;
  if (block.kind === 'table') return text.startsWith('|');
  return at > 0 && block.kind === 'list' && LIST_ITEM.test(text);
}
