import { namesIn } from './grounding.ts';
import {
  type Features,
  type Reading,
  type Share,
  shareOf,
  spaced,
  type Weight,
  type Word,
  weightIn,
} from './reading.ts';

/** What indicates that the evidence suffices to answer a request; each 0..1. */
export type SufficiencyFeature = 'together' | 'names' | 'apart' | 'chained';

/**
 * Returns the features of evidence for a request.
 * - `together`: the share of the request in two linked texts, near their link.
 * - `names`: how prominent the least prominent name of the request is; without names, the share of its words found.
 * - `apart`: by how much the second best text has more of the request than the third.
 * - `chained`: whether a text is connected to one about something that the request names, or to the best one.
 *
 * Two texts are linked if one mentions the title of the other, or both have the same rare words one after the other, and
 * the request does not (the bridge of HotpotQA, Yang and others 2018). Linear in the texts except for their pairs, of
 * at most 24 texts.
 */
export function sufficiencyFeatures(request: Reading, all: readonly Reading[]): Features<SufficiencyFeature> {
  const weight = weightIn(all, request);
  const share = shareOf(request.terms, weight);
  const ranked = all
    .map((text) => ({ text, share: share((term) => text.terms.has(term)) }))
    .sort((one, other) => other.share - one.share);
  const texts = ranked.slice(0, 24).map(({ text }) => text);
  const links = linksBetween(texts, request, weight);
  return {
    together: shareOfLinked(links, share),
    names: leastProminent(request, all, share),
    apart: (ranked[1]?.share ?? 0) - (ranked[2]?.share ?? 0),
    chained: isChained(texts, links, request, weight) ? 1 : 0,
  };
}

/** Returns how much of the request one sentence and the title of its text have, 0..1: the best of all. */
export function shareInOneSentence(request: Reading, texts: readonly Reading[]): number {
  const share = shareOf(request.terms, weightIn(texts, request));
  const shares = texts.flatMap((text) =>
    text.sentences.map((terms) => share((term) => terms.has(term) || isInTitle(text, term))),
  );
  return shares.reduce((best, one) => Math.max(best, one), 0);
}

/** Two texts that belong together by what connects them, as stems. */
interface Link {
  readonly from: Reading;
  readonly to: Reading;
  readonly by: readonly string[];
  /** 0..1. */
  readonly strength: number;
}

/** A pair of words in more texts than this links none of them. */
const MAX_SHARING = 3;

function linksBetween(texts: readonly Reading[], request: Reading, weight: Weight): readonly Link[] {
  const links: Link[] = [];
  for (const to of texts) {
    if (to.title.length === 0 || to.title.every((stem) => request.sequence.includes(` ${stem} `))) continue;
    for (const from of texts)
      if (from !== to && from.sequence.includes(spaced(to.title))) links.push({ from, to, by: to.title, strength: 1 });
  }
  const rarest = weight('______');
  for (const [pair, having] of holdersOf(texts, ({ pairs }) => pairs)) {
    const by = pair.split(' ');
    if (having.length < 2 || having.length > MAX_SHARING || by.every((stem) => request.sequence.includes(` ${stem} `)))
      continue;
    const strength = Math.min(...by.map(weight), weight(by.join(''))) / rarest / (having.length - 1);
    for (const [at, from] of having.entries())
      for (const to of having.slice(at + 1)) links.push({ from, to, by, strength });
  }
  return links;
}

function holdersOf(texts: readonly Reading[], keysOf: (text: Reading) => Iterable<string>): Map<string, Reading[]> {
  const holders = new Map<string, Reading[]>();
  for (const text of texts) for (const key of keysOf(text)) holders.get(key)?.push(text) ?? holders.set(key, [text]);
  return holders;
}

/** Returns the best share of the request in the titles and one sentence each of two texts that has their link. */
function shareOfLinked(links: readonly Link[], share: Share): number {
  let best = 0;
  for (const { from, to, by, strength } of links.toSorted((one, other) => other.strength - one.strength)) {
    if (strength <= best) break;
    for (const left of near(from, by))
      for (const right of near(to, by)) {
        const has = (term: string) => left.has(term) || right.has(term) || isInTitle(from, term) || isInTitle(to, term);
        best = Math.max(best, strength * share(has));
      }
  }
  return best;
}

const isInTitle = ({ title, sentences }: Reading, term: string): boolean =>
  title.length > 0 && sentences[0]?.has(term) === true;

/** Returns the sentences with the link, or all of a text about it, at most 12. */
function near({ sentences, title }: Reading, by: readonly string[]): readonly ReadonlySet<string>[] {
  const isAbout = by.every((stem) => title.includes(stem));
  const has = (terms: ReadonlySet<string>) => by.every((stem) => terms.has(stem)) || terms.has(by.join(''));
  return sentences.filter((terms) => isAbout || has(terms)).slice(0, 12);
}

/** How prominent a name is in a text: its title, part of it, early in the text, anywhere, or only its words. */
const PLACES = { title: 1, inTitle: 0.9, early: 0.7, anywhere: 0.5, scattered: 0.3 } as const;
const EARLY_CHARS = 80;

function leastProminent(request: Reading, texts: readonly Reading[], share: Share): number {
  const names = namesIn(request.words);
  if (names.length === 0) return share((term) => texts.some(({ terms }) => terms.has(term)));
  return Math.min(...names.map((name) => texts.reduce((best, text) => Math.max(best, prominence(text, name)), 0)));
}

function prominence(text: Reading, name: readonly Word[]): number {
  const stems = name.map(({ stem }) => stem);
  const title = spaced(text.title);
  const sought = spaced(stems);
  if (title === sought) return PLACES.title;
  if (title.includes(sought)) return PLACES.inTitle;
  const place = text.sequence.indexOf(sought);
  if (place !== -1) return place < EARLY_CHARS ? PLACES.early : PLACES.anywhere;
  return stems.every((stem) => text.terms.has(stem)) ? PLACES.scattered : 0;
}

/** Two texts that share names of at least this weight belong together: about two names that no other text has. */
const SHARED_NAMES = 3;

function isChained(texts: readonly Reading[], links: readonly Link[], request: Reading, weight: Weight): boolean {
  const about = texts.filter(({ title }) => title.length > 0 && request.sequence.includes(spaced(title)));
  const starts = new Set(about.length > 0 ? about : texts.slice(0, 1));
  if (starts.size > 1) return true;
  if (links.some(({ from, to, strength }) => strength === 1 && (starts.has(from) || starts.has(to)))) return true;
  const shared = new Map<Reading, number>();
  for (const [name, [one, other, ...more]] of holdersOf(texts, ({ names }) => names)) {
    if (one === undefined || other === undefined || more.length > 0 || request.terms.has(name)) continue;
    const end = starts.has(one) ? other : one;
    if (starts.has(one) || starts.has(other)) shared.set(end, (shared.get(end) ?? 0) + weight(name));
  }
  return Math.max(0, ...shared.values()) > SHARED_NAMES;
}
