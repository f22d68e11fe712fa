import { sentencesOf } from '../../machines/text/sentences.ts';
import type { Block } from './document.ts';
import { LIST_ITEM, type LogicalLine, logicalLines } from './logical-line.ts';
import { cellsOf, isDelimiterRow } from './table.ts';

/** A block, or a part of one that was too long, as it is shown. */
export interface Piece {
  readonly text: string;
  readonly heading: readonly string[];
  readonly startLine: number;
  readonly endLine: number;
}

const MAX_CONTEXT_CHARS = 120;

/**
 * A block as pieces of at most `maxChars` characters (and a code fence). The later parts of a list or table stand under
 * the block's heading and what led into it, or the header row, so that they can be understood alone.
 */
export function piecesOf(block: Block, maxChars: number): Piece[] {
  const lines = logicalLines(block);
  const whole = lines.map(({ text }) => text).join('\n');
  if (whole.length <= maxChars) return [pieceOf(block, lines, block.heading)];
  const units = lines.flatMap((line) =>
    line.text.length > maxChars || block.kind === 'prose' ? cut(line, maxChars) : [line],
  );
  const context = contextOf(block, lines);
  const pieces: Piece[] = [];
  let from = 0;
  let chars = 0;
  for (const [at, unit] of units.entries()) {
    if (at > from && chars + unit.text.length > maxChars) {
      pieces.push(pieceOf(block, units.slice(from, at), pieces.length === 0 ? block.heading : context));
      [from, chars] = [at, 0];
    }
    chars += unit.text.length + 1;
  }
  pieces.push(pieceOf(block, units.slice(from), pieces.length === 0 ? block.heading : context));
  return pieces;
}

function pieceOf(block: Block, lines: readonly LogicalLine[], heading: readonly string[]): Piece {
  const text = lines.map((line) => line.text).join(block.kind === 'prose' ? ' ' : '\n');
  return {
    text: block.kind === 'code' ? `\`\`\`\n${text}\n\`\`\`` : text.trim(),
    heading,
    startLine: lines[0]?.startLine ?? block.startLine,
    endLine: lines.at(-1)?.endLine ?? block.endLine,
  };
}

/** The heading path of a block's later parts. */
function contextOf(block: Block, lines: readonly LogicalLine[]): readonly string[] {
  const first = lines[0]?.text ?? '';
  const header = block.kind === 'table' && isDelimiterRow(lines[1]?.text) ? cellsOf(first).join(' / ') : '';
  const leadIn = block.kind === 'list' && !LIST_ITEM.test(first) ? first : '';
  const context = header || leadIn;
  return context !== '' && context.length <= MAX_CONTEXT_CHARS ? [...block.heading, context] : block.heading;
}

/** A long line cut at sentence ends, or at spaces where a sentence is too long itself; with the file's lines of each part. */
function cut(line: LogicalLine, maxChars: number): LogicalLine[] {
  const lineAt = lineFinder(line);
  const parts: LogicalLine[] = [];
  for (const sentence of sentencesOf(line.text)) {
    for (let from = sentence.start; from < sentence.end; ) {
      const to = cutEnd(line.text, from, sentence.end, maxChars);
      const text = line.text.slice(from, to).trim();
      if (text !== '') parts.push({ text, startLine: lineAt(from), endLine: lineAt(to - 1), wraps: [] });
      from = to;
    }
  }
  return parts;
}

function cutEnd(text: string, from: number, end: number, maxChars: number): number {
  if (end - from <= maxChars) return end;
  const space = text.lastIndexOf(' ', from + maxChars);
  if (space > from + maxChars / 2) return space + 1;
  const most = from + maxChars;
  return /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
}

/** Gives the file's line of an index into a logical line; indices must not fall from call to call. */
function lineFinder(line: LogicalLine): (index: number) => number {
  let wrap = 0;
  return (index) => {
    while ((line.wraps[wrap + 1]?.at ?? Number.POSITIVE_INFINITY) <= index) wrap += 1;
    return line.wraps[wrap]?.line ?? line.startLine;
  };
}
