import type { Block } from './document.ts';

/** Lines `from` (included) to `to` (not included) of a block's text as a block of their own; at least one line. */
export function sliceLines(block: Block, from: number, to: number): Block {
  const lines = block.lines.slice(from, to);
  return {
    ...block,
    text: block.text.split('\n').slice(from, to).join('\n'),
    startLine: lines[0] ?? block.startLine,
    endLine: lines.at(-1) ?? block.endLine,
    lines,
  };
}

/** The same block further down in the file. */
export function shiftLines(block: Block, by: number): Block {
  if (by === 0) return block;
  const lines = block.lines.map((line) => line + by);
  return { ...block, startLine: block.startLine + by, endLine: block.endLine + by, lines };
}
