/** Parameters of BM25: how quickly further occurrences stop counting, the effect of the length, and the minimum score of an occurrence. */
export interface Bm25 {
  readonly saturation: number;
  readonly length: number;
  /** Above 0 for BM25+ (Lv and Zhai 2011). */
  readonly least: number;
}

/**
 * Returns how informative a term is that occurs in `having` of the texts (Robertson and Spärck Jones 1976, smoothed): above 0 for every term.
 */
export function rarity(texts: number, having: number): number {
  return Math.log(1 + (texts - having + 0.5) / (having + 0.5));
}

/**
 * Returns the score of a term of rarity 1 in a text (BM25, Robertson et al. 1994): 1 for one occurrence in a text of mean length, plus
 * `least`. `length` is relative to the mean.
 */
export function termScore(times: number, length: number, { saturation, length: effect, least }: Bm25): number {
  return least + (times * (saturation + 1)) / (times + saturation * (1 - effect + effect * length));
}
