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

/** How well the evidence suffices to answer a request. */
export interface Sufficiency {
  /** From 0 to 1. By default, 0.7 or more is sufficient. */
  readonly score: number;
  /** The factors of the score, each 0..1. */
  readonly factors: Readonly<Record<string, number>>;
  /** Words of the request that no text has, at most 8, as written. */
  readonly missing: readonly string[];
}

/** The weight of each factor in the evidence, which a logistic curve maps to 0..1. */
export const SUFFICIENCY_WEIGHTS = { names: 2, link: 1, complement: 4, together: 1, steps: 4 } as const;
/** The evidence at which the score is one half; 0.7 needs 0.85 more. */
const EVIDENCE_FOR_HALF = 5.5;
const MAX_MISSING = 8;
/** The number of texts to search for links: those with the most words of the request. */
const MAX_LINKED = 32;

/**
 * Returns how well the evidence suffices to answer a request, judged by the words and names that the texts share with
 * the request and with each other. The better of two cases counts. Either one passage suffices (`alone`), or several do
 * together: each name of the request is found (`names`, the worst one; without names, its words), a text about one is
 * linked to another (`link`) with other words of the request (`complement`), both have them near the link (`together`),
 * and there are as many linked texts as the request describes things (`steps`). No evidence gives 0. Linear except for
 * one sort. Texts are read once per object: pass the same objects again.
 */
export function sufficiencyOf(request: string, gathered: readonly EvidenceText[]): Sufficiency {
  const parsed = parseRequest(request);
  const closest = closestTo(parsed, gathered);
  const factors = factorsOf(closest, parsed);
  const missing = parsed.terms.filter(({ stem }, bit) => (closest.words & (1 << bit)) === 0 && !isGeneral(stem));
  return {
    score: closest.words === 0 ? 0 : Math.max(scoreOf(factors), factors.alone),
    factors,
    missing: missing.slice(0, MAX_MISSING).map(({ surface }) => surface),
  };
}

type Factor = keyof typeof SUFFICIENCY_WEIGHTS;

function factorsOf({ texts, words }: Closest, request: ParsedRequest): Record<Factor | 'alone', number> {
  const most = texts.slice(0, MAX_LINKED);
  const found = request.names.map((_, name) => texts.reduce((best, { named }) => Math.max(best, named[name] ?? 0), 0));
  return {
    names: found.length > 0 ? Math.min(...found) : request.share(words),
    ...chainOf(most, linksOf(most, request), request),
    alone: singlePassageScore(texts, request),
  };
}

function scoreOf(factors: Readonly<Record<Factor, number>>): number {
  const evidence = Object.entries(SUFFICIENCY_WEIGHTS).reduce(
    (sum, [factor, weight]) => sum + weight * factors[factor as Factor],
    0,
  );
  return 1 / (1 + Math.exp(EVIDENCE_FOR_HALF - evidence));
}

/** How well the texts form one answer; each 0..1. */
interface Chain {
  /** The strongest link from something that the request names. */
  readonly link: number;
  /** What two linked texts add to each other: the lesser share, doubled. */
  readonly complement: number;
  /** The share of the request that two linked texts have around their link. */
  readonly together: number;
  /** Texts linked to one that the request names, relative to those that an answer seems to need, at least two. */
  readonly steps: number;
}

/** The value of a link to a text without further words of the request. */
const ADDS_NOTHING = 0.5;
/** A weaker link does not count as a step. */
const LEAST_STEP = 0.2;
/** A single text is not a chain. */
const LEAST_TEXTS = 2;

function chainOf(texts: readonly TextCoverage[], links: readonly Link[], request: ParsedRequest): Chain {
  let [link, complement, together] = [0, 0, 0];
  for (const { from, to, by, strength } of links) {
    const adds = Math.min(request.share(from.words & ~to.words), request.share(to.words & ~from.words));
    link = Math.max(link, strength * (adds > 0 ? 1 : ADDS_NOTHING) * Math.max(from.anchor, to.anchor));
    complement = Math.max(complement, strength * Math.min(1, 2 * adds));
    together = Math.max(
      together,
      strength * request.share(wordsAround(from, by, request) | wordsAround(to, by, request)),
    );
  }
  return {
    link,
    complement,
    together,
    steps: Math.min(1, linkedTexts(texts, links) / Math.max(LEAST_TEXTS, request.steps)),
  };
}

/**
 * Returns the request's words in the title and in the sentences with the link; for the text about it, its first and
 * best sentences.
 */
function wordsAround(
  { reading, words, bySentence }: TextCoverage,
  by: readonly string[],
  request: ParsedRequest,
): WordSet {
  if (by.length === 0) return words;
  let around: WordSet = reading.titleLength > 0 ? (bySentence[0] ?? 0) : 0;
  for (const place of placesOf(reading, by)) around |= bySentence[reading.sentences[place] ?? 0] ?? 0;
  if (!isHead(reading, by)) return around;
  const best = bySentence.reduce((most, one) => (request.share(one) > request.share(most) ? one : most), 0);
  return around | best | (bySentence[firstSentence(reading)] ?? 0);
}

/**
 * Returns how many texts are connected to one that has something the request names (union-find, Galler and Fischer
 * 1964).
 */
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

/** The number of texts to index: those with the most words of the request, plus one for each word that they lack. */
const MAX_CLOSE = 32;

/** The evidence that relates to a request. */
interface Closest {
  /** The indexed texts, each content once, the one with the most words first. */
  readonly texts: readonly TextCoverage[];
  /** The words of the request that any text has. */
  readonly words: WordSet;
}

function closestTo(request: ParsedRequest, gathered: readonly { readonly content: string }[]): Closest {
  const all = distinct(gathered).map((text) => ({ text, words: wordsIn(stemSetOf(text), request) }));
  const ranked = all
    .map((one) => ({ ...one, share: request.share(one.words) }))
    .sort((one, other) => other.share - one.share);
  const close = ranked.slice(0, MAX_CLOSE);
  let had = close.reduce((words, one) => words | one.words, 0);
  for (const one of ranked.slice(MAX_CLOSE)) {
    if ((one.words & ~had) === 0) continue;
    close.push(one);
    had |= one.words;
  }
  return { texts: close.map(({ text }) => coverageOf(indexText(text), request)), words: had };
}

function wordsIn(stems: ReadonlySet<string>, request: ParsedRequest): WordSet {
  return request.terms.reduce((words, { stem }, bit) => (stems.has(stem) ? words | (1 << bit) : words), 0);
}

/** Returns the texts without duplicates. */
function distinct<T extends { readonly content: string }>(texts: readonly T[]): readonly T[] {
  return [...new Map(texts.map((text) => [text.content, text])).values()];
}

/** Two texts that belong together: both name the same thing, or one is about something that the other names. */
interface Link {
  readonly from: TextCoverage;
  readonly to: TextCoverage;
  /** What connects them, as stems; empty if the request itself names both. */
  readonly by: readonly string[];
  /** 0..1. */
  readonly strength: number;
}

/** A name in more texts than this connects none of them, which also bounds the number of pairs. */
const MAX_SHARING = 4;
/** The strength of a shared name of several words, and of a single word, which may mean something else. */
const SEVERAL_WORDS = 0.8;
const ONE_WORD = 0.6;
const COMPARED = 0.8;

/**
 * Returns the links between texts by names that the request does not have (the bridge of HotpotQA, Yang and others
 * 2018): a title that another text mentions counts most, then a name that both share; less, the more texts have it.
 * Linear in their names.
 */
export function linksOf(texts: readonly TextCoverage[], request: ParsedRequest): readonly Link[] {
  return [...byTitle(texts, request), ...byName(texts, request), ...byRequest(texts, request)];
}

function byTitle(texts: readonly TextCoverage[], request: ParsedRequest): Link[] {
  return texts.flatMap((to) =>
    to.reading.heads.flatMap((head) => {
      if (head.every(request.has)) return [];
      const mentions = texts.flatMap((from) => {
        const sure = from === to ? 0 : mention(from, head);
        return sure > 0 ? [{ from, sure }] : [];
      });
      if (mentions.length >= MAX_SHARING) return [];
      return mentions.map(({ from, sure }) => ({ from, to, by: head, strength: sure / mentions.length }));
    }),
  );
}

/** Returns how certain it is that a text mentions this, 0..1: a single word must be a name there. */
function mention({ reading }: TextCoverage, words: readonly string[]): number {
  if (words.length === 1) return reading.names.get(words[0] ?? '') ?? 0;
  return placesOf(reading, words).length > 0 ? 1 : 0;
}

function byName(texts: readonly TextCoverage[], request: ParsedRequest): Link[] {
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
    if (all.length < 2 || all.length > MAX_SHARING) continue;
    const by = name.split(' ');
    if (by.every(request.has)) continue;
    const worth = (by.length > 1 ? SEVERAL_WORDS : ONE_WORD) / (all.length - 1);
    for (const [at, one] of all.entries())
      for (const other of all.slice(at + 1))
        links.push({ from: one.text, to: other.text, by, strength: worth * one.sure * other.sure });
  }
  return links;
}

/**
 * A request that names several things and describes none ("Which is larger, A or B?") connects the texts about them.
 */
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

/** How an evidence text covers a request. */
interface TextCoverage {
  readonly reading: IndexedText;
  /** The words of the request that the text has. */
  readonly words: WordSet;
  /** The words in each of its sentences; a title is sentence 0. */
  readonly bySentence: readonly WordSet[];
  /** How well each name of the request is placed in it, 0..1. */
  readonly named: readonly number[];
  /** The best of `named`; if the request names nothing, the share of its words. */
  readonly anchor: number;
}

/**
 * The value of a name by its place: the entire title, in the title, in the first sentence, anywhere, or its words
 * within one sentence.
 */
const PLACED = { head: 1, title: 0.9, lead: 0.7, body: 0.5, scattered: 0.4 } as const;

/** Computes the coverage of a request by a text. Linear in the positions of the request's words. */
export function coverageOf(reading: IndexedText, request: ParsedRequest): TextCoverage {
  const bySentence: WordSet[] = new Array((reading.sentences.at(-1) ?? 0) + 1).fill(0);
  let words: WordSet = 0;
  for (const [bit, { stem }] of request.terms.entries()) {
    const places = reading.places.get(stem);
    if (places === undefined) continue;
    words |= 1 << bit;
    for (const place of places) {
      const sentence = reading.sentences[place] ?? 0;
      bySentence[sentence] = (bySentence[sentence] ?? 0) | (1 << bit);
    }
  }
  const named = request.names.map((name) => placement(reading, name));
  const anchor = named.length === 0 ? request.share(words) : Math.max(...named);
  return { reading, words, bySentence, named, anchor };
}

function placement(reading: IndexedText, name: readonly string[]): number {
  if (isHead(reading, name)) return PLACED.head;
  const [first] = placesOf(reading, name);
  if (first === undefined) return shareSentence(reading, name) ? PLACED.scattered : 0;
  if (first < reading.titleLength) return PLACED.title;
  return (reading.sentences[first] ?? 0) <= firstSentence(reading) ? PLACED.lead : PLACED.body;
}

/** Returns the first sentence after the title. */
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
 * Returns how well one passage answers alone, 0..1: the square of the share of the request that one sentence and its
 * title cover, so that missing words count twice. A request for a number or time needs a sentence with one that the
 * request does not have.
 */
function singlePassageScore(texts: readonly TextCoverage[], request: ParsedRequest): number {
  let best = 0;
  for (const { reading, bySentence } of texts) {
    const title: WordSet = reading.titleLength > 0 ? (bySentence[0] ?? 0) : 0;
    for (const [sentence, words] of bySentence.entries()) {
      const share = request.share(words | title);
      if (share > best && (!request.asksForFigure || hasFigure(reading, sentence, request))) best = share;
    }
  }
  return best ** 2;
}

function hasFigure({ stems, begins }: IndexedText, sentence: number, request: ParsedRequest): boolean {
  const words = stems.slice(begins[sentence], begins[sentence + 1]);
  return words.some(
    (stem) => !request.has(stem) && (/^\p{N}/u.test(stem) || NUMBER_WORDS.has(stem) || isCalendar(stem)),
  );
}
