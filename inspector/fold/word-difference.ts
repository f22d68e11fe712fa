import { diffWordsWithSpace } from 'diff';

/** A piece of text that is in both, or in one of two texts only. */
export interface Piece {
  readonly text: string;
  readonly in: 'both' | 'before' | 'after';
}

/** Longer texts, and texts with more differences, are not compared word by word: it would take too long to wait for. */
const LONGEST_CHARS = 40_000;
const MOST_EDITS = 1_000;

/** Two texts word by word; null where they are too long or too different for it. */
export function wordDifference(before: string, after: string): readonly Piece[] | null {
  if (before.length + after.length > LONGEST_CHARS) return null;
  const found = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS });
  if (found === undefined) return null;
  return found.map(({ value, added, removed }) => ({
    text: value,
    in: added ? 'after' : removed ? 'before' : 'both',
  }));
}
