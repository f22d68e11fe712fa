import type { MessageTerms } from './message-terms.ts';

/** BM25's saturation of repeated words and its share of length normalisation, as usual. */
const K1 = 1.2;
const B = 0.75;

/** How much a word tells that so many of the messages have (Robertson and Spärck Jones 1976, smoothed): above 0 for every word. */
export function rarity(messages: number, having: number): number {
  return Math.log(1 + (messages - having + 0.5) / (having + 0.5));
}

/**
 * How well each text matches the words asked for: BM25 (Robertson et al. 1994) over the texts, as a share of what a text of mean
 * length has that holds every word once, so that 1 is a full match and little is above it. A word that no text has counts in the whole. Linear in texts times words.
 */
export function lexicalMatch(wanted: readonly string[], texts: readonly MessageTerms[]): readonly number[] {
  const meanLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length || 1;
  const weights = wanted.map((stem) => {
    let having = 0;
    for (const { counts } of texts) if (counts.has(stem)) having += 1;
    return rarity(texts.length, having);
  });
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return texts.map(({ counts, length }) => {
    const dampened = K1 * (1 - B + (B * length) / meanLength);
    let score = 0;
    for (const [at, stem] of wanted.entries()) {
      const times = counts.get(stem);
      if (times !== undefined) score += ((weights[at] ?? 0) * times * (K1 + 1)) / (times + dampened);
    }
    return whole === 0 ? 0 : score / whole;
  });
}
