import { fnv1a, spread } from './hash.ts';
import { wordSet } from './words.ts';

/** A set of words, or a map by word. */
interface Words {
  readonly size: number;
  has(word: string): boolean;
  keys(): Iterable<string>;
}

/**
 * Returns the Jaccard index of two sets (P. Jaccard, 1901): the share of all words that both have, 0..1; 1 for two
 * empty sets.
 */
export function jaccard(one: Words, other: Words): number {
  const { shared, all } = countWords(one, other);
  return all === 0 ? 1 : shared / all;
}

/** Returns the share of all words that only one of two sets has, 0..1: one minus the Jaccard index, without its rounding error. */
function jaccardDistance(one: Words, other: Words): number {
  const { shared, all } = countWords(one, other);
  return all === 0 ? 0 : (all - shared) / all;
}

function countWords(one: Words, other: Words): { readonly shared: number; readonly all: number } {
  let shared = 0;
  for (const word of one.keys()) if (other.has(word)) shared += 1;
  return { shared, all: one.size + other.size - shared };
}

/**
 * Bands of a sketch, and hashes per band: two sets with 0.8 in common almost certainly share a band, two with 0.2
 * hardly ever.
 */
const BANDS = 16;
const ROWS = 5;

/** Odd factors, one per hash: multiplying by one reorders the hashes of words. */
const FACTORS = Array.from({ length: BANDS * ROWS }, (_, at) => spread(at + 1) | 1);

/**
 * Returns the sketch of a set of words, one 32-bit key per band: sets with much in common share at least one key
 * (MinHash, A. Broder 1997, in bands, P. Indyk and R. Motwani 1998). The order of words does not matter.
 */
export function sketch(words: Iterable<string>): readonly number[] {
  const least = new Uint32Array(FACTORS.length).fill(0xffffffff);
  for (const word of words) {
    const hash = spread(fnv1a(word));
    for (let at = 0; at < least.length; at += 1) {
      const moved = Math.imul(hash, FACTORS[at] as number) >>> 0;
      if (moved < (least[at] as number)) least[at] = moved;
    }
  }
  return Array.from({ length: BANDS }, (_, band) => {
    let key = band;
    for (let at = band * ROWS; at < (band + 1) * ROWS; at += 1) key = spread(key ^ (least[at] as number));
    return key;
  });
}

/**
 * Returns how much a text changed: 0 for the same words, 1 for none in common (one minus the Jaccard index of words
 * and signs). Two empty texts have not changed.
 */
export function changeBetween(previous: string, current: string): number {
  return jaccardDistance(wordSet(previous), wordSet(current));
}
