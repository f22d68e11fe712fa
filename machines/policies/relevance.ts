import type { Message } from '../contracts/message.ts';
import { eachStem, requestTerms, stemsOf } from '../text/terms.ts';

/** 1 for the current cycle, half as much after each half-life. A negative or invalid age counts as now. */
export function recency(age: number, halfLife: number): number {
  return age > 0 ? 0.5 ** (age / halfLife) : 1;
}

/** Ids of messages that other messages were made from or link to. */
export function referencedIds(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { id: own, references, links } of messages) {
    for (const id of references) if (id !== own) ids.add(id);
    for (const { to } of links) if (to !== own) ids.add(to);
  }
  return ids;
}

const RAISING: ReadonlySet<string> = new Set(['relevant', 'important', 'persist']);
const LOWERING = 'low_relevance';
const TAG_SHARE = 0.25;

/** Returns the message's importance, moved by a quarter by tags such as `important` or `low_relevance`. */
function importance({ importance: given, tags }: Message): number {
  const raised = tags.some((tag) => RAISING.has(tag)) ? TAG_SHARE : 0;
  const lowered = tags.includes(LOWERING) ? TAG_SHARE : 0;
  return Math.min(1, Math.max(0, finite(given) + raised - lowered));
}

/** Two links count as much as more. */
function linkScore({ links }: Message): number {
  return Math.min(1, links.length / 2);
}

/** A score that is not finite counts as 0. */
function finite(score: number): number {
  return Number.isFinite(score) ? score : 0;
}

/**
 * The weight of each factor. `text` is the better of a message's own match (plus a share of the names it shares with
 * other matching messages) and its neighbors' match; `similarity` counts only with embeddings; the others add up to 1.
 */
export const RELEVANCE_WEIGHTS = {
  text: 0.42,
  speaker: 0.08,
  recency: 0.2,
  reference: 0.15,
  importance: 0.1,
  links: 0.05,
  similarity: 0.42,
} as const;

/** The weight of shared names beside a message's own match. */
const SHARED_NAMES_WEIGHT = 0.3;

export interface RelevanceInputs {
  readonly request: string;
  readonly cycle: number;
  readonly halfLifeCycles: number;
  /** Similarity of each message to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
}

/** The factors of a message's relevance, and their weighted mean; all are clamped to 0..1. */
export interface Relevance {
  readonly match: number;
  readonly names: number;
  readonly neighbors: number;
  readonly speaker: number;
  readonly recency: number;
  readonly reference: number;
  readonly importance: number;
  readonly links: number;
  readonly similarity: number | null;
  readonly score: number;
}

/**
 * The relevance of each message to the request, in order. Each message is read once; linear in messages times request
 * words.
 */
export function relevanceOf(messages: readonly Message[], inputs: RelevanceInputs): readonly Relevance[] {
  const requested = requestTerms(inputs.request).map(({ stem }) => stem);
  const texts = messages.map(termsOfMessage);
  const match = lexicalMatch(requested, texts);
  const names = sharedNames(requested, texts, match);
  const own = match.map((value, at) => value + SHARED_NAMES_WEIGHT * (names[at] ?? 0));
  const beside = neighbors(messages, own);
  const requestStems = new Set(requested);
  const anyMatch = own.some((value) => value > 0);
  const referenced = referencedIds(messages);
  return messages.map((message, at) => {
    const relevance = {
      match: clamp(match[at] ?? 0),
      names: clamp(names[at] ?? 0),
      neighbors: clamp(beside[at] ?? 0),
      speaker: texts[at]?.speaker.some((name) => requestStems.has(name)) ? 1 : 0,
      recency: recency(inputs.cycle - message.cycle, inputs.halfLifeCycles),
      reference: referenced.has(message.id) ? 1 : 0,
      importance: importance(message),
      links: linkScore(message),
      similarity: inputs.similarity === null ? null : clamp(inputs.similarity[at] ?? 0),
      score: 0,
    };
    relevance.score = weightedMean(relevance, anyMatch ? Math.max(own[at] ?? 0, beside[at] ?? 0) : null);
    return relevance;
  });
}

/**
 * The weighted mean. `text` is not clamped, so that full matches above 1 still differ. It is null if no message has a
 * word of the request ("And why is that?"): it then ranks nothing, and the other factors make up the whole.
 */
function weightedMean(relevance: Omit<Relevance, 'score'>, text: number | null): number {
  const { speaker, recency: recent, reference, importance: important, links, similarity } = relevance;
  const sum =
    W.text * (text ?? 0) +
    W.speaker * speaker +
    W.recency * recent +
    W.reference * reference +
    W.importance * important +
    W.links * links;
  const whole = 1 - (text === null ? W.text : 0);
  return clamp(similarity === null ? sum / whole : (sum + W.similarity * similarity) / (whole + W.similarity));
}

const W = RELEVANCE_WEIGHTS;

const clamp = (value: number): number => Math.min(1, Math.max(0, finite(value)));

/** The share of a neighbor's match, by its distance: one, two or three places. */
const SHARES = [0.8, 0.6, 0.4];

/**
 * How well the neighbors of each message match, on the scale of `match`: the best of three before and after it, less
 * with each place. Turns of a conversation are neighbors, and so are passages of one document: an answer follows its
 * question and often has none of its words.
 */
function neighbors(messages: readonly Message[], match: readonly number[]): readonly number[] {
  return messages.map((message, at) => {
    let best = 0;
    for (const [place, share] of SHARES.entries())
      for (const next of [at - place - 1, at + place + 1]) {
        const other = messages[next];
        if (other !== undefined && areNeighbors(message, other)) best = Math.max(best, share * (match[next] ?? 0));
      }
    return best;
  });
}

/** Messages of phases have no neighbors: they concern the request as a whole. */
function areNeighbors(one: Message, other: Message): boolean {
  if (one.role === 'search' || other.role === 'search')
    return one.role === other.role && one.source !== null && one.source.path === other.source?.path;
  return one.phase === null && other.phase === null;
}

/** For a name: its two best matches, the text with the best one, and how many texts have it. */
interface Holders {
  best: number;
  at: number;
  second: number;
  count: number;
}

/**
 * How strongly each text is connected to other matching texts by names that the request does not have: the second step
 * of a two-step question ("the founder of X" leads to a text about that founder). A name counts by its rarity and by
 * the best match of the other texts that have it: one step of spreading activation (Collins and Loftus 1975). Linear in
 * the names.
 */
function sharedNames(
  requested: readonly string[],
  texts: readonly MessageTerms[],
  match: readonly number[],
): readonly number[] {
  const holders = holdersOf(new Set(requested), texts, match);
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

/** Parameters of BM25: saturation of repeated words, and length normalization. */
const K1 = 1.2;
const B = 0.75;

/**
 * How informative a word is that `having` of the messages have (Robertson and Spärck Jones 1976, smoothed): above 0 for
 * every word.
 */
function rarity(messages: number, having: number): number {
  return Math.log(1 + (messages - having + 0.5) / (having + 0.5));
}

/**
 * How well each text matches the requested words: BM25 (Robertson et al. 1994), relative to a text of mean length that
 * has every word once; so 1 is a full match, and few texts exceed it. A word that no text has counts in the
 * denominator. Linear in texts times words.
 */
function lexicalMatch(requested: readonly string[], texts: readonly MessageTerms[]): readonly number[] {
  const meanLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length || 1;
  const weights = requested.map((stem) => {
    let having = 0;
    for (const { counts } of texts) if (counts.has(stem)) having += 1;
    return rarity(texts.length, having);
  });
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return texts.map(({ counts, length }) => {
    const dampened = K1 * (1 - B + (B * length) / meanLength);
    let score = 0;
    for (const [at, stem] of requested.entries()) {
      const times = counts.get(stem);
      if (times !== undefined) score += ((weights[at] ?? 0) * times * (K1 + 1)) / (times + dampened);
    }
    return whole === 0 ? 0 : score / whole;
  });
}

/** The terms of a message: its content words with their counts, its names, and its speaker. */
interface MessageTerms {
  readonly counts: ReadonlyMap<string, number>;
  /** Number of content words, with repetitions. */
  readonly length: number;
  /** Stems of capitalized words and of numbers with three or more digits. */
  readonly names: ReadonlySet<string>;
  /** Stems of the name before a leading colon: "Ada Lovelace: …". */
  readonly speaker: readonly string[];
}

/** Only the beginning of a longer message is read. */
const MAX_CHARS = 100_000;
const NAME = /^(?:\p{Lu}|\p{N}{3})/u;
const SPEAKER = /^\s*(\p{Lu}[\p{L}\p{M}.’'-]{0,30}(?: \p{Lu}[\p{L}\p{M}.’'-]{0,30}){0,2}):\s/u;

/** Messages are immutable, so each is read once. */
const known = new WeakMap<Message, MessageTerms>();

export function termsOfMessage(message: Message): MessageTerms {
  const read = known.get(message);
  if (read !== undefined) return read;
  const terms = readTerms(message.content.slice(0, MAX_CHARS));
  known.set(message, terms);
  return terms;
}

function readTerms(content: string): MessageTerms {
  const label = SPEAKER.exec(content);
  const counts = new Map<string, number>();
  const names = new Set<string>();
  let length = 0;
  eachStem(label === null ? content : content.slice(label[0].length), (stem, surface) => {
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
    if (NAME.test(surface)) names.add(stem);
    length += 1;
  });
  return { counts, length, names, speaker: stemsOf(label?.[1] ?? '') };
}
