import type { Asked, WordSet } from './asked.ts';
import { isHead, placesOf, type Reading } from './reading.ts';

/** A gathered text beside a request. */
export interface Covered {
  readonly reading: Reading;
  /** The words of the request that the text has. */
  readonly words: WordSet;
  /** The words that each of its sentences has; the title's are sentence 0 where there is a title. */
  readonly bySentence: readonly WordSet[];
  /** How well each name of the request is placed in it, 0..1. */
  readonly named: readonly number[];
  /** The best of `named`; where the request names nothing, the share of its words. */
  readonly anchor: number;
}

/** What it counts for a name to be found: as the whole title, in it, in the first sentence, anywhere, or its words in one sentence. */
export const PLACED = { head: 1, title: 0.9, lead: 0.7, body: 0.5, scattered: 0.4 } as const;

/** Holds a text against a request. Linear in the places of the request's words. */
export function coverageOf(reading: Reading, asked: Asked): Covered {
  const bySentence: WordSet[] = new Array((reading.sentences.at(-1) ?? 0) + 1).fill(0);
  let words: WordSet = 0;
  for (const [bit, { stem }] of asked.terms.entries()) {
    const places = reading.places.get(stem);
    if (places === undefined) continue;
    words |= 1 << bit;
    for (const place of places) {
      const sentence = reading.sentences[place] ?? 0;
      bySentence[sentence] = (bySentence[sentence] ?? 0) | (1 << bit);
    }
  }
  const named = asked.names.map((name) => placement(reading, name));
  const anchor = named.length === 0 ? asked.share(words) : Math.max(...named);
  return { reading, words, bySentence, named, anchor };
}

function placement(reading: Reading, name: readonly string[]): number {
  if (isHead(reading, name)) return PLACED.head;
  const [first] = placesOf(reading, name);
  if (first === undefined) return shareSentence(reading, name) ? PLACED.scattered : 0;
  if (first < reading.titleLength) return PLACED.title;
  return (reading.sentences[first] ?? 0) <= firstSentence(reading) ? PLACED.lead : PLACED.body;
}

/** The first sentence after the title. */
export function firstSentence({ titleLength }: Reading): number {
  return titleLength > 0 ? 1 : 0;
}

/** Whether a sentence has all of these words. */
function shareSentence({ places, sentences }: Reading, words: readonly string[]): boolean {
  const having = words.map((word) => new Set((places.get(word) ?? []).map((place) => sentences[place] ?? 0)));
  return [...(having[0] ?? [])].some((sentence) => having.every((sentencesOfWord) => sentencesOfWord.has(sentence)));
}
