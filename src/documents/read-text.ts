import type { Steps } from '../internal/async.ts';
import { joinLeadIns } from './blocks.ts';
import type { Block, BlockKind } from './document.ts';
import { blockOf } from './lines.ts';
import { tableIn } from './read-delimited.ts';

const ITEM = /^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+\S/;
const CODE_LINE = /^(?:\t| {2,})\S|[;{}]\s*$|,\S+,\S|\t/;

const LINES_PER_STEP = 1_000;

/** Returns the blocks of plain text with `\n` line endings, in steps of 1,000 lines: paragraphs, lists, and what looks like code. */
export function* readText(text: string): Steps<Block[]> {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  for (const [at, line] of [...text.split('\n'), ''].entries()) {
    if (line.trim() !== '') paragraph.push(line);
    else if (paragraph.length > 0) {
      blocks.push(...paragraphBlocks(paragraph, at - paragraph.length + 1));
      paragraph = [];
    }
    if (at % LINES_PER_STEP === LINES_PER_STEP - 1) yield;
  }
  return joinLeadIns(blocks);
}

function paragraphBlocks(lines: readonly string[], startLine: number): Block[] {
  const item = lines.findIndex((line) => ITEM.test(line));
  if (item === 0) return block(lines, startLine, 'list');
  if (item > 0)
    return [...block(lines.slice(0, item), startLine, 'prose'), ...block(lines.slice(item), startLine + item, 'list')];
  const table = tableIn(lines, startLine);
  if (table !== null) return table;
  const code = lines.filter((line) => CODE_LINE.test(line)).length;
  return block(lines, startLine, lines.length > 1 && code * 2 > lines.length ? 'code' : 'prose');
}

function block(lines: readonly string[], startLine: number, kind: BlockKind): Block[] {
  const shown = lines.map((line, at) => ({ text: kind === 'prose' ? line.trim() : line, line: startLine + at }));
  return blockOf(shown, [], kind);
}
