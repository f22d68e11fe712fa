import type { Asked } from './asked.ts';
import { type Covered, PLACED } from './coverage.ts';
import { placesOf } from './reading.ts';

/** Two gathered texts that have to do with one another: both name the same thing, or one is about what the other names. */
export interface Link {
  readonly from: Covered;
  readonly to: Covered;
  /** What ties them, as stems; none if the request itself names the one and the other. */
  readonly by: readonly string[];
  /** 0..1. */
  readonly strength: number;
}

/** A name in more texts than this ties none of them together, which also keeps the pairs few. */
const MOST_SHARING = 4;
/** A shared name of several words, and one of a single word, which may well be another of that name. */
const SEVERAL_WORDS = 0.8;
const ONE_WORD = 0.6;
const COMPARED = 0.8;

/**
 * The links between texts, by what the request does not itself have (the bridge of HotpotQA, Yang and others 2018): a title that
 * another text mentions counts most, then a name that both share; the less, the more texts have it. Linear in their names.
 */
export function linksOf(texts: readonly Covered[], asked: Asked): readonly Link[] {
  return [...byTitle(texts, asked), ...byName(texts, asked), ...byRequest(texts, asked)];
}

function byTitle(texts: readonly Covered[], asked: Asked): Link[] {
  return texts.flatMap((to) =>
    to.reading.heads.flatMap((head) => {
      if (head.every(asked.has)) return [];
      const mentions = texts.flatMap((from) => {
        const sure = from === to ? 0 : mention(from, head);
        return sure > 0 ? [{ from, sure }] : [];
      });
      if (mentions.length >= MOST_SHARING) return [];
      return mentions.map(({ from, sure }) => ({ from, to, by: head, strength: sure / mentions.length }));
    }),
  );
}

/** How sure it is that a text speaks of this, 0..1: a single word must be a name there. */
function mention({ reading }: Covered, words: readonly string[]): number {
  if (words.length === 1) return reading.names.get(words[0] ?? '') ?? 0;
  return placesOf(reading, words).length > 0 ? 1 : 0;
}

function byName(texts: readonly Covered[], asked: Asked): Link[] {
  const having = new Map<string, { text: Covered; sure: number }[]>();
  for (const text of texts) {
    for (const [name, sure] of text.reading.names) {
      const known = having.get(name);
      if (known === undefined) having.set(name, [{ text, sure }]);
      else known.push({ text, sure });
    }
  }
  const links: Link[] = [];
  for (const [name, all] of having) {
    if (all.length < 2 || all.length > MOST_SHARING) continue;
    const by = name.split(' ');
    if (by.every(asked.has)) continue;
    const worth = (by.length > 1 ? SEVERAL_WORDS : ONE_WORD) / (all.length - 1);
    for (const [at, one] of all.entries())
      for (const other of all.slice(at + 1))
        links.push({ from: one.text, to: other.text, by, strength: worth * one.sure * other.sure });
  }
  return links;
}

/** A request that names several things and describes none ("Which is larger, A or B?") ties the texts about them itself. */
function byRequest(texts: readonly Covered[], { names, steps }: Asked): Link[] {
  if (steps > 1) return [];
  const about = names.map((_, name) => {
    const best = Math.max(PLACED.title, ...texts.map(({ named }) => named[name] ?? 0));
    return texts.filter(({ named }) => named[name] === best);
  });
  return about.flatMap((ones, name) =>
    ones.flatMap((from) =>
      (about[name + 1] ?? []).flatMap((to) => (from === to ? [] : [{ from, to, by: [], strength: COMPARED }])),
    ),
  );
}
