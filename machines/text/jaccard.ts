/** A set of words, or a map by words. */
interface Words {
  readonly size: number;
  has(word: string): boolean;
  keys(): Iterable<string>;
}

/** The Jaccard index of two sets (P. Jaccard, 1901): the share of all words that both have, 0..1; 1 of two empty ones. */
export function jaccard(one: Words, other: Words): number {
  let shared = 0;
  for (const word of one.keys()) if (other.has(word)) shared += 1;
  const all = one.size + other.size - shared;
  return all === 0 ? 1 : shared / all;
}
