import { wordSet } from '../text/words.ts';

/**
 * How much an answer changed: 0 for the same words, 1 for no word in common. One minus the Jaccard index of the two word sets
 * (P. Jaccard, 1901). Two empty answers have not changed.
 */
export function changeBetween(previous: string, current: string): number {
  const before = wordSet(previous);
  const after = wordSet(current);
  let shared = 0;
  for (const word of after) if (before.has(word)) shared += 1;
  const all = before.size + after.size - shared;
  return all === 0 ? 0 : 1 - shared / all;
}
