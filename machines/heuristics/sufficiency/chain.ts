import type { Asked, WordSet } from './asked.ts';
import { type Covered, firstSentence } from './coverage.ts';
import type { Link } from './links.ts';
import { isHead, placesOf } from './reading.ts';

/** How well the gathered texts hang together as one answer; each 0..1. */
export interface Chain {
  /** The strongest link that begins at something the request names. */
  readonly link: number;
  /** What each of two linked texts adds to the other: the lesser share, doubled. */
  readonly complement: number;
  /** The share of the request that two linked texts have around what links them. */
  readonly together: number;
  /** The texts that are linked to one that the request names, out of those that it seems to take, which are two or more. */
  readonly steps: number;
}

/** What a link counts to a text that has no further word of the request. */
const ADDS_NOTHING = 0.5;
/** A weaker link than this makes no step. */
const LEAST_STEP = 0.2;
/** One text is no chain: it answers alone or not. */
const LEAST_TEXTS = 2;

export function chainOf(texts: readonly Covered[], links: readonly Link[], asked: Asked): Chain {
  let [link, complement, together] = [0, 0, 0];
  for (const { from, to, by, strength } of links) {
    const adds = Math.min(asked.share(from.words & ~to.words), asked.share(to.words & ~from.words));
    link = Math.max(link, strength * (adds > 0 ? 1 : ADDS_NOTHING) * Math.max(from.anchor, to.anchor));
    complement = Math.max(complement, strength * Math.min(1, 2 * adds));
    together = Math.max(together, strength * asked.share(wordsAround(from, by, asked) | wordsAround(to, by, asked)));
  }
  return {
    link,
    complement,
    together,
    steps: Math.min(1, linkedTexts(texts, links) / Math.max(LEAST_TEXTS, asked.steps)),
  };
}

/** The request's words in the title and in the sentences that have what links; of the text about it, its first and best ones. */
function wordsAround({ reading, words, bySentence }: Covered, by: readonly string[], asked: Asked): WordSet {
  if (by.length === 0) return words;
  let around: WordSet = reading.titleLength > 0 ? (bySentence[0] ?? 0) : 0;
  for (const place of placesOf(reading, by)) around |= bySentence[reading.sentences[place] ?? 0] ?? 0;
  if (!isHead(reading, by)) return around;
  const best = bySentence.reduce((most, one) => (asked.share(one) > asked.share(most) ? one : most), 0);
  return around | best | (bySentence[firstSentence(reading)] ?? 0);
}

/** How many texts hang together with one that has something the request names (union-find, Galler and Fischer 1964). */
function linkedTexts(texts: readonly Covered[], links: readonly Link[]): number {
  const parents = new Map<Covered, Covered>();
  const rootOf = (text: Covered): Covered => {
    let root = text;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    return root;
  };
  for (const { from, to, strength } of links) {
    const [one, other] = [rootOf(from), rootOf(to)];
    if (strength >= LEAST_STEP && one !== other) parents.set(one, other);
  }
  const sizes = new Map<Covered, number>();
  for (const text of texts) sizes.set(rootOf(text), (sizes.get(rootOf(text)) ?? 0) + 1);
  return Math.max(0, ...texts.filter(({ anchor }) => anchor > 0).map((text) => sizes.get(rootOf(text)) ?? 1));
}
