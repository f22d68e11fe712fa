import { isGeneral, stemsOf } from '../text/terms.ts';
import {
  type IndexedText,
  indexText,
  isCalendar,
  isHead,
  type ParsedRequest,
  parseRequest,
  placesOf,
  stemSetOf,
  type WordSet,
} from './evidence-index.ts';
import type { EvidenceText } from './parsed-text.ts';

/** Whether what was gathered is enough to answer. */
export interface Sufficiency {
  /** 0..1; from 0.7 on it is enough. */
  readonly score: number;
  /** What the score was made of, each 0..1. */
  readonly factors: Readonly<Record<string, number>>;
  /** Words of the request that nothing gathered has, at most 8, as they stand in it. */
  readonly missing: readonly string[];
}

/** What each factor adds to the evidence, which a logistic curve turns into 0..1. */
export const SUFFICIENCY_WEIGHTS = { names: 2, link: 1, complement: 4, together: 1, steps: 4 } as const;
/** So much evidence is a score of one half; 0.7 is reached 0.85 above it. */
const EVIDENCE_FOR_HALF = 5.5;
const MOST_MISSING = 8;
/** Links are looked for among this many texts, those with the most words of the request. */
const MOST_LINKED = 32;

/**
 * Information sufficiency: whether the gathered texts answer a request, by the words and names that they share with
 * it and with one another. Two ways lead there, and the better one counts. Either one passage has what was asked for
 * (`alone`), or several do together: each name of the request is found (`names`, the one that is found worst; without names,
 * its words), a text about one is linked to another (`link`) which has other words of the request (`complement`), both have
 * them where the link is (`together`), and there are as many linked texts as the request describes things (`steps`). Nothing
 * gathered gives 0. Linear but for one sort. A text is read once as an object: give the same objects again.
 */
export function sufficiencyOf(request: string, gathered: readonly EvidenceText[]): Sufficiency {
  const asked = parseRequest(request);
  const closest = closestTo(asked, gathered);
  const factors = factorsOf(closest, asked);
  const missing = asked.terms.filter(({ stem }, bit) => (closest.words & (1 << bit)) === 0 && !isGeneral(stem));
  return {
    score: closest.words === 0 ? 0 : Math.max(scoreOf(factors), factors.alone),
    factors,
    missing: missing.slice(0, MOST_MISSING).map(({ surface }) => surface),
  };
}

type Factor = keyof typeof SUFFICIENCY_WEIGHTS;

function factorsOf({ texts, words }: Closest, asked: ParsedRequest): Record<Factor | 'alone', number> {
  const most = texts.slice(0, MOST_LINKED);
  const found = asked.names.map((_, name) => texts.reduce((best, { named }) => Math.max(best, named[name] ?? 0), 0));
  return {
    names: found.length > 0 ? Math.min(...found) : asked.share(words),
    ...chainOf(most, linksOf(most, asked), asked),
    alone: singlePassageScore(texts, asked),
  };
}

function scoreOf(factors: Readonly<Record<Factor, number>>): number {
  const evidence = Object.entries(SUFFICIENCY_WEIGHTS).reduce(
    (sum, [factor, weight]) => sum + weight * factors[factor as Factor],
    0,
  );
  return 1 / (1 + Math.exp(EVIDENCE_FOR_HALF - evidence));
}

/** How well the gathered texts hang together as one answer; each 0..1. */
interface Chain {
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

function chainOf(texts: readonly TextCoverage[], links: readonly Link[], asked: ParsedRequest): Chain {
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
function wordsAround(
  { reading, words, bySentence }: TextCoverage,
  by: readonly string[],
  asked: ParsedRequest,
): WordSet {
  if (by.length === 0) return words;
  let around: WordSet = reading.titleLength > 0 ? (bySentence[0] ?? 0) : 0;
  for (const place of placesOf(reading, by)) around |= bySentence[reading.sentences[place] ?? 0] ?? 0;
  if (!isHead(reading, by)) return around;
  const best = bySentence.reduce((most, one) => (asked.share(one) > asked.share(most) ? one : most), 0);
  return around | best | (bySentence[firstSentence(reading)] ?? 0);
}

/** How many texts hang together with one that has something the request names (union-find, Galler and Fischer 1964). */
function linkedTexts(texts: readonly TextCoverage[], links: readonly Link[]): number {
  const parents = new Map<TextCoverage, TextCoverage>();
  const rootOf = (text: TextCoverage): TextCoverage => {
    let root = text;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    return root;
  };
  for (const { from, to, strength } of links) {
    const [one, other] = [rootOf(from), rootOf(to)];
    if (strength >= LEAST_STEP && one !== other) parents.set(one, other);
  }
  const sizes = new Map<TextCoverage, number>();
  for (const text of texts) sizes.set(rootOf(text), (sizes.get(rootOf(text)) ?? 0) + 1);
  return Math.max(0, ...texts.filter(({ anchor }) => anchor > 0).map((text) => sizes.get(rootOf(text)) ?? 1));
}

/** So many texts are read closely, those with the most words of the request; and one for each word that they lack. */
const MOST_CLOSE = 32;

/** What was gathered, as far as it has to do with a request. */
interface Closest {
  /** The texts that were read closely, each content once, the one with most words of the request first. */
  readonly texts: readonly TextCoverage[];
  /** The words of the request that anything gathered has. */
  readonly words: WordSet;
}

function closestTo(asked: ParsedRequest, gathered: readonly { readonly content: string }[]): Closest {
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
  return { texts: close.map(({ text }) => coverageOf(indexText(text), asked)), words: had };
}

function wordsIn(stems: ReadonlySet<string>, asked: ParsedRequest): WordSet {
  return asked.terms.reduce((words, { stem }, bit) => (stems.has(stem) ? words | (1 << bit) : words), 0);
}

/** A text that was gathered twice says nothing more the second time. */
function distinct<T extends { readonly content: string }>(texts: readonly T[]): readonly T[] {
  return [...new Map(texts.map((text) => [text.content, text])).values()];
}

/** Two gathered texts that have to do with one another: both name the same thing, or one is about what the other names. */
interface Link {
  readonly from: TextCoverage;
  readonly to: TextCoverage;
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
export function linksOf(texts: readonly TextCoverage[], asked: ParsedRequest): readonly Link[] {
  return [...byTitle(texts, asked), ...byName(texts, asked), ...byRequest(texts, asked)];
}

function byTitle(texts: readonly TextCoverage[], asked: ParsedRequest): Link[] {
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
function mention({ reading }: TextCoverage, words: readonly string[]): number {
  if (words.length === 1) return reading.names.get(words[0] ?? '') ?? 0;
  return placesOf(reading, words).length > 0 ? 1 : 0;
}

function byName(texts: readonly TextCoverage[], asked: ParsedRequest): Link[] {
  const having = new Map<string, { text: TextCoverage; sure: number }[]>();
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
function byRequest(texts: readonly TextCoverage[], { names, steps }: ParsedRequest): Link[] {
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

/** A gathered text beside a request. */
interface TextCoverage {
  readonly reading: IndexedText;
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
const PLACED = { head: 1, title: 0.9, lead: 0.7, body: 0.5, scattered: 0.4 } as const;

/** Holds a text against a request. Linear in the places of the request's words. */
export function coverageOf(reading: IndexedText, asked: ParsedRequest): TextCoverage {
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

function placement(reading: IndexedText, name: readonly string[]): number {
  if (isHead(reading, name)) return PLACED.head;
  const [first] = placesOf(reading, name);
  if (first === undefined) return shareSentence(reading, name) ? PLACED.scattered : 0;
  if (first < reading.titleLength) return PLACED.title;
  return (reading.sentences[first] ?? 0) <= firstSentence(reading) ? PLACED.lead : PLACED.body;
}

/** The first sentence after the title. */
function firstSentence({ titleLength }: IndexedText): number {
  return titleLength > 0 ? 1 : 0;
}

/** Whether a sentence has all of these words. */
function shareSentence({ places, sentences }: IndexedText, words: readonly string[]): boolean {
  const having = words.map((word) => new Set((places.get(word) ?? []).map((place) => sentences[place] ?? 0)));
  return [...(having[0] ?? [])].some((sentence) => having.every((sentencesOfWord) => sentencesOfWord.has(sentence)));
}

const NUMBER_WORDS = new Set(
  stemsOf(
    `two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion half twice century today yesterday tomorrow`,
  ),
);

/**
 * How well one passage answers alone, 0..1: the square of the share of the request that one sentence has with its title, so
 * that what is missing counts twice. A request for a number or a time takes a sentence with one that is not its own.
 */
function singlePassageScore(texts: readonly TextCoverage[], asked: ParsedRequest): number {
  let best = 0;
  for (const { reading, bySentence } of texts) {
    const title: WordSet = reading.titleLength > 0 ? (bySentence[0] ?? 0) : 0;
    for (const [sentence, words] of bySentence.entries()) {
      const share = asked.share(words | title);
      if (share > best && (!asked.wantsFigure || hasFigure(reading, sentence, asked))) best = share;
    }
  }
  return best ** 2;
}

function hasFigure({ stems, begins }: IndexedText, sentence: number, asked: ParsedRequest): boolean {
  const words = stems.slice(begins[sentence], begins[sentence + 1]);
  return words.some((stem) => !asked.has(stem) && (/^\p{N}/u.test(stem) || NUMBER_WORDS.has(stem) || isCalendar(stem)));
}
