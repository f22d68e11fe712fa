import { stemmer } from 'stemmer';
import { GENERAL_WORDS } from './stop-words.ts';

/** How much a term tells, by how few of the texts have it; above 0 for every term. */
export type TermWeight = (stem: string) => number;

/** Texts that are imagined beside the real ones, none of which has the term: keeps weights steady where texts are few. */
const IMAGINED_TEXTS = 10;
const GENERAL_FACTOR = 0.3;
const GENERAL_STEMS: ReadonlySet<string> = new Set([...GENERAL_WORDS].map((word) => stemmer(word)));

/**
 * Smoothed inverse document frequency (Spärck Jones 1972): ln(1 + (texts + 10) / (texts with the term + 1)). A term that no
 * text has weighs the most, so that a question about something unknown cannot seem covered; general words ("handle", "kind") weigh less than their rarity.
 */
export function termWeights(texts: number, textsWith: (stem: string) => number): TermWeight {
  return (stem) => {
    const rarity = Math.log(1 + (texts + IMAGINED_TEXTS) / (textsWith(stem) + 1));
    return GENERAL_STEMS.has(stem) ? GENERAL_FACTOR * rarity : rarity;
  };
}

/** Whether a word is so general that its absence from a text says nothing. */
export function isGeneral(stem: string): boolean {
  return GENERAL_STEMS.has(stem);
}
