import type { Asked, WordSet } from './asked.ts';
import { type Covered, coverageOf } from './coverage.ts';
import { readingOf, stemSetOf } from './reading.ts';

/** So many texts are read closely, those with the most words of the request; and one for each word that they lack. */
const MOST_CLOSE = 32;

/** What was gathered, as far as it has to do with a request. */
export interface Closest {
  /** The texts that were read closely, each content once, the one with most words of the request first. */
  readonly texts: readonly Covered[];
  /** The words of the request that anything gathered has. */
  readonly words: WordSet;
}

export function closestTo(asked: Asked, gathered: readonly { readonly content: string }[]): Closest {
  const all = distinct(gathered).map((text) => ({ text, words: wordsIn(stemSetOf(text), asked) }));
  const ranked = all
    .map((one) => ({ ...one, share: asked.share(one.words) }))
    .sort((one, other) => other.share - one.share);
  const close = ranked.slice(0, MOST_CLOSE);
  let had = close.reduce((words, one) => words | one.words, 0);
  for (const one of ranked.slice(MOST_CLOSE)) {
    if ((one.words & ~had) === 0) continue;
    close.push(one);
    had |= one.words;
  }
  return { texts: close.map(({ text }) => coverageOf(readingOf(text), asked)), words: had };
}

function wordsIn(stems: ReadonlySet<string>, asked: Asked): WordSet {
  return asked.terms.reduce((words, { stem }, bit) => (stems.has(stem) ? words | (1 << bit) : words), 0);
}

/** A text that was gathered twice says nothing more the second time. */
function distinct<T extends { readonly content: string }>(texts: readonly T[]): readonly T[] {
  return [...new Map(texts.map((text) => [text.content, text])).values()];
}
