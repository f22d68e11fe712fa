import type { Passage } from '../../machines/contracts/passage.ts';
import type { Block, Document } from './document.ts';
import { type Piece, piecesOf } from './pieces.ts';

/** A passage before it was ranked. */
export type UnrankedPassage = Omit<Passage, 'relevance'>;

const MIN_CHARS = 300;
const TARGET_CHARS = 800;
const MAX_CHARS = 1_200;

/**
 * The passages of a document, in order: 300 to 1,200 characters where the text allows it. Small neighbours under the same
 * heading are put together, long ones cut at sentence, item or row ends; a heading of its own makes a passage of its own.
 * Lines count from 1. Ids are unique within the document and the same every time. Linear.
 */
export function passagesOf(document: Document): UnrankedPassage[] {
  const passages: UnrankedPassage[] = [];
  const seen = new Map<string, number>();
  for (const piece of merged(document.blocks)) {
    const place = `${document.path}#L${piece.startLine}-L${piece.endLine}`;
    const times = (seen.get(place) ?? 0) + 1;
    seen.set(place, times);
    const source = { path: document.path, startLine: piece.startLine, endLine: piece.endLine };
    passages.push({ id: times === 1 ? place : `${place}.${times}`, text: piece.text, heading: piece.heading, source });
  }
  return passages;
}

function merged(blocks: readonly Block[]): Piece[] {
  const pieces: Piece[] = [];
  for (const block of blocks) {
    for (const piece of piecesOf(block, MAX_CHARS)) {
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
