import type { Passage } from '../../machines/contracts/passage.ts';
import { clipped } from '../../machines/text/clip.ts';
import { sentencesOf } from '../../machines/text/sentences.ts';
import type { Steps } from '../internal/async.ts';
import { cellsOf, fenced, isDelimiterRow, LIST_ITEM } from './blocks.ts';
import { compoundsIn, joinLines } from './divided-words.ts';
import type { Block, ParsedDocument } from './document.ts';
import { MAX_TITLE_CHARS } from './parts.ts';

/** A paragraph, list item, table row or line of code as one line, even if the file wraps it. */
interface LogicalLine {
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The index in `text` at which each line of the file starts. */
  readonly wraps: readonly { readonly at: number; readonly line: number }[];
}

/** Returns the lines of a block with hard wraps undone. */
function logicalLines(block: Block, compounds: ReadonlySet<string>): LogicalLine[] {
  const logical: { text: string; startLine: number; endLine: number; wraps: { at: number; line: number }[] }[] = [];
  let open: string | null = null;
  for (const [at, text] of block.text.split('\n').entries()) {
    const line = block.lines[at] ?? block.startLine;
    const fence = /^\s*(`{3,})/.exec(text)?.[1] ?? null;
    const last = logical.at(-1);
    if (last === undefined || open !== null || fence !== null || startsLine(block, text, at)) {
      logical.push({ text, startLine: line, endLine: line, wraps: [{ at: 0, line }] });
    } else {
      const rest = text.trim();
      last.text = joinLines(last.text, rest, compounds);
      last.wraps.push({ at: last.text.length - rest.length, line });
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

export type UnrankedPassage = Omit<Passage, 'relevance'>;

const MIN_CHARS = 300;
const TARGET_CHARS = 800;
const MAX_CHARS = 1_200;

const BLOCKS_PER_STEP = 100;

/** The innermost headings are kept. */
const MAX_HEADINGS = 10;

/**
 * Returns the passages of a document, in order and in steps of 100 blocks, of 300 to 1,200 characters if the text allows it. Small adjacent blocks under the same
 * heading are merged; long ones are cut after sentences, items or rows. Ids are stable and unique within the document.
 */
export function* passagesOf(document: ParsedDocument): Steps<UnrankedPassage[]> {
  const passages: UnrankedPassage[] = [];
  const seen = new Map<string, number>();
  const compounds = compoundsIn(document.blocks.map(({ text }) => text).join('\n'));
  for (const piece of yield* merged(document.blocks, compounds)) {
    const lines = `${document.path}#L${piece.startLine}-L${piece.endLine}`;
    const times = (seen.get(lines) ?? 0) + 1;
    seen.set(lines, times);
    const source = { path: document.path, startLine: piece.startLine, endLine: piece.endLine };
    passages.push({
      id: times === 1 ? lines : `${lines}.${times}`,
      text: piece.text,
      heading: boundedHeading(piece.heading),
      source,
    });
  }
  return passages;
}

function boundedHeading(heading: readonly string[]): readonly string[] {
  return heading.slice(-MAX_HEADINGS).map((title) => clipped(title, MAX_TITLE_CHARS));
}

function* merged(blocks: readonly Block[], compounds: ReadonlySet<string>): Steps<Piece[]> {
  const pieces: Piece[] = [];
  for (const [at, block] of blocks.entries()) {
    if (at % BLOCKS_PER_STEP === BLOCKS_PER_STEP - 1) yield;
    for (const piece of piecesOf(block, compounds)) {
      const last = pieces.at(-1);
      if (last !== undefined && fits(last, piece)) {
        const startLine = Math.min(last.startLine, piece.startLine);
        pieces[pieces.length - 1] = { ...piece, text: `${last.text}\n\n${piece.text}`, startLine };
      } else pieces.push(piece);
    }
  }
  return pieces;
}

function fits(last: Piece, next: Piece): boolean {
  if (last.heading.join('\n') !== next.heading.join('\n')) return false;
  const [before, after] = [last.text.length, next.text.length];
  if (before + after > MAX_CHARS) return false;
  return before < MIN_CHARS || after < MIN_CHARS || before + after <= TARGET_CHARS;
}

/** A block, or part of a long block, as shown. */
interface Piece {
  readonly text: string;
  readonly heading: readonly string[];
  readonly startLine: number;
  readonly endLine: number;
}

const MAX_CONTEXT_CHARS = 240;
const MIN_HEADER_CHARS = 6;

/**
 * Returns a block as pieces of at most `MAX_CHARS` characters, not counting a code fence. A list that continues in the next piece ends with
 * "…". The later pieces of a list or table get its introduction or header row as an additional heading, and the item that they are nested in,
 * so that they can be understood alone.
 */
function piecesOf(block: Block, compounds: ReadonlySet<string>): Piece[] {
  const lines = logicalLines(block, compounds);
  const whole = lines.map(({ text }) => text).join('\n');
  if (whole.length <= MAX_CHARS) return [pieceOf(block, lines, block.heading)];
  const units = lines.flatMap((line) =>
    line.text.length > MAX_CHARS || block.kind === 'prose' ? cut(line, MAX_CHARS) : [line],
  );
  const context = contextOf(block, lines);
  const parents = block.kind === 'list' ? parentsOf(units) : [];
  const more = block.kind === 'list' ? '\n…' : '';
  const pieces: Piece[] = [];
  let from = 0;
  let chars = 0;
  const add = (to: number): void => {
    const parent = parents[from] ?? '';
    const heading = parent === '' ? context : [...context, clipped(parent, MAX_CONTEXT_CHARS)];
    const piece = pieceOf(block, units.slice(from, to), pieces.length === 0 ? block.heading : heading);
    pieces.push(to < units.length ? { ...piece, text: `${piece.text}${more}` } : piece);
  };
  for (const [at, unit] of units.entries()) {
    if (at > from && chars + unit.text.length + more.length > MAX_CHARS) {
      add(at);
      [from, chars] = [at, 0];
    }
    chars += unit.text.length + 1;
  }
  add(units.length);
  return pieces;
}

/** Returns, for each line of a list, the text of the item that it is nested in, or that it continues; empty if there is none. */
function parentsOf(lines: readonly LogicalLine[]): readonly string[] {
  const open: { indent: number; text: string }[] = [];
  return lines.map(({ text }) => {
    if (!LIST_ITEM.test(text)) return open.at(-1)?.text ?? '';
    const indent = text.search(/\S/);
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const parent = open.at(-1)?.text ?? '';
    open.push({ indent, text: text.replace(LIST_ITEM, '') });
    return parent;
  });
}

function pieceOf(block: Block, lines: readonly LogicalLine[], heading: readonly string[]): Piece {
  const text = lines.map((line) => line.text).join(block.kind === 'prose' ? ' ' : '\n');
  return {
    text: block.kind === 'code' ? fenced(text, block.language) : text.trim(),
    heading,
    startLine: lines[0]?.startLine ?? block.startLine,
    endLine: lines.at(-1)?.endLine ?? block.endLine,
  };
}

function contextOf(block: Block, lines: readonly LogicalLine[]): readonly string[] {
  const first = lines[0]?.text ?? '';
  const header = block.kind === 'table' && isDelimiterRow(lines[1]?.text) ? headerOf(cellsOf(first)) : '';
  const leadIn = block.kind === 'list' && !LIST_ITEM.test(first) ? first : '';
  const context = clipped(header || leadIn, MAX_CONTEXT_CHARS);
  return context === '' ? block.heading : [...block.heading, context];
}

/** Shortens the longest cells of a wide header. */
function headerOf(cells: readonly string[]): string {
  const shortened = (chars: number): string => cells.map((cell) => clipped(cell, chars)).join(' / ');
  let chars = MAX_CONTEXT_CHARS;
  while (chars > MIN_HEADER_CHARS && shortened(chars).length > MAX_CONTEXT_CHARS) chars -= 1;
  return shortened(chars);
}

/** Cuts a long line after sentences, or at spaces if a sentence is too long, and keeps the line numbers. */
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

/** Returns a function from an index in a logical line to the file's line. Successive indices must not decrease. */
function lineFinder(line: LogicalLine): (index: number) => number {
  let wrap = 0;
  return (index) => {
    while ((line.wraps[wrap + 1]?.at ?? Number.POSITIVE_INFINITY) <= index) wrap += 1;
    return line.wraps[wrap]?.line ?? line.startLine;
  };
}
