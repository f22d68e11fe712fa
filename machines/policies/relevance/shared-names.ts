import { rarity } from './lexical-match.ts';
import type { MessageTerms } from './message-terms.ts';

/** The two best matches of the texts that have a name, which text has the best, and how many have it. */
interface Holders {
  best: number;
  at: number;
  second: number;
  count: number;
}

/**
 * How much each text has to do with others that match, from 0 on, by the names that they share and the request does not say: the
 * second step of a question that needs two ("the founder of X" leads to a text about that founder). A name counts by its rarity and
 * by the best match of the other texts that have it: spreading activation of one step (Collins and Loftus 1975). Linear in the names.
 */
export function sharedNames(
  wanted: readonly string[],
  texts: readonly MessageTerms[],
  match: readonly number[],
): readonly number[] {
  const holders = holdersOf(new Set(wanted), texts, match);
  const most = rarity(texts.length, 0);
  for (const held of holders.values()) {
    const weight = held.count < 2 ? 0 : rarity(texts.length, held.count) / most;
    held.best *= weight;
    held.second *= weight;
  }
  return texts.map(({ names }, at) => {
    let sum = 0;
    for (const name of names) {
      const held = holders.get(name);
      if (held !== undefined) sum += held.at === at ? held.second : held.best;
    }
    return sum;
  });
}

function holdersOf(asked: ReadonlySet<string>, texts: readonly MessageTerms[], match: readonly number[]) {
  const holders = new Map<string, Holders>();
  for (const [at, { names }] of texts.entries()) {
    const score = match[at] ?? 0;
    for (const name of names) {
      const held = holders.get(name);
      if (held !== undefined) {
        held.count += 1;
        if (score > held.best) {
          held.second = held.best;
          held.best = score;
          held.at = at;
        } else if (score > held.second) held.second = score;
      } else if (!asked.has(name)) holders.set(name, { best: score, at, second: 0, count: 1 });
    }
  }
  return holders;
}
