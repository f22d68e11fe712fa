import type { Message } from '../contracts/message.ts';
import { PHASES } from '../contracts/phase.ts';
import { type Bm25, rarity, termScore } from '../text/bm25.ts';
import { memoize } from '../text/memoize.ts';
import { jaccard, sketch } from '../text/similarity.ts';
import { eachStem, requestTerms, stemsOf } from '../text/terms.ts';

/** What relevance depends on besides the messages. */
export interface RelevanceInputs {
  readonly request: string;
  readonly cycle: number;
  /** The time of the evaluation, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly halfLifeCycles: number;
  readonly halfLifeMs: number;
  /** Similarity of each message to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
}

type Clock = Omit<RelevanceInputs, 'request' | 'similarity'>;

/** 1 at age 0, half as much after each half-life. A negative or invalid age counts as 0. */
function recency(age: number, halfLife: number): number {
  return age > 0 ? 0.5 ** (age / halfLife) : 1;
}

function recencyOf({ cycle, createdAtMs }: Message, now: Clock): number {
  return recency(now.cycle - cycle, now.halfLifeCycles) * recency(now.nowMs - createdAtMs, now.halfLifeMs);
}

export interface Use {
  /** The references to it, each weighted by the recency of the message that refers to it, and the links to it. */
  readonly weight: number;
  /** When the newest of them referred to it, by `phaseNumber`. Links hold at any time. */
  readonly lastPhase: number;
}

/** The uses of each message that another one was made from or links to, by id. */
export function usesOf(messages: readonly Message[], now: Clock): ReadonlyMap<string, Use> {
  const uses = new Map<string, Use>();
  const count = (id: string, weight: number, phase: number): void => {
    const known = uses.get(id);
    uses.set(id, { weight: (known?.weight ?? 0) + weight, lastPhase: Math.max(known?.lastPhase ?? phase, phase) });
  };
  for (const message of messages) {
    const { id: own, references, links } = message;
    for (const id of new Set(references)) if (id !== own) count(id, recencyOf(message, now), phaseNumber(message));
    for (const { to } of links) if (to !== own) count(to, 1, Number.POSITIVE_INFINITY);
  }
  return uses;
}

/** The number of a message's phase in the run, counted from the first phase of cycle 0, skipped ones included. */
export function phaseNumber({ cycle, phase }: Pick<Message, 'cycle' | 'phase'>): number {
  return cycle * PHASES.length + (phase === null ? 0 : PHASES.indexOf(phase));
}

const RAISING: ReadonlySet<string> = new Set(['relevant', 'important', 'persist']);
const LOWERING = 'low_relevance';
const TAG_SHARE = 0.25;

/** Returns the message's importance, moved by a quarter by tags such as `important` or `low_relevance`. */
function importance({ importance: given, tags }: Message): number {
  const raised = tags.some((tag) => RAISING.has(tag)) ? TAG_SHARE : 0;
  return clamp(finite(given) + raised - (tags.includes(LOWERING) ? TAG_SHARE : 0));
}

/** A score that is not finite counts as 0. */
const finite = (score: number): number => (Number.isFinite(score) ? score : 0);
const clamp = (value: number): number => Math.min(1, Math.max(0, finite(value)));

/**
 * The weight of each factor. `text` is the better of a message's own match (plus the terms it shares with other matching
 * messages) and its neighbors' match; `similarity` counts only with embeddings; the others add up to 1.
 */
export const RELEVANCE_WEIGHTS = {
  text: 0.5,
  speaker: 0.1,
  recency: 0.1,
  reference: 0.15,
  importance: 0.1,
  links: 0.05,
  similarity: 0.5,
} as const;

const W = RELEVANCE_WEIGHTS;

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
export function relevanceOf(
  messages: readonly Message[],
  inputs: RelevanceInputs,
  uses: ReadonlyMap<string, Use> = usesOf(messages, inputs),
): readonly Relevance[] {
  const requested = requestTerms(inputs.request).map(({ stem }) => stem);
  const texts = messages.map(termsOfMessage);
  const match = lexicalMatch(requested, texts);
  const names = sharedNames(new Set(requested), texts, match);
  const own = match.map((value, at) => value + (names[at] as number));
  const beside = neighbors(messages, own);
  const requestStems = new Set(requested);
  const anyMatch = own.some((value) => value > 0);
  return messages.map((message, at) => {
    const factors: { -readonly [Name in keyof Relevance]: Relevance[Name] } = {
      match: clamp(match[at] ?? 0),
      names: clamp(names[at] ?? 0),
      neighbors: clamp(beside[at] ?? 0),
      speaker: texts[at]?.speaker.some((name) => requestStems.has(name)) ? 1 : 0,
      recency: recencyOf(message, inputs),
      reference: 1 - 0.5 ** (uses.get(message.id)?.weight ?? 0),
      importance: importance(message),
      links: clamp(message.links.length / 2),
      similarity: inputs.similarity === null ? null : clamp(inputs.similarity[at] ?? 0),
      score: 0,
    };
    factors.score = weightedMean(factors, anyMatch ? Math.max(own[at] ?? 0, beside[at] ?? 0) : null);
    return factors;
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

/** The share of a neighbor's match, by its distance: one, two or three places. */
const SHARES = [0.8, 0.6, 0.4];

/**
 * How well the neighbors of each message match, on the scale of `match`: the best of three before and after it, less
 * with each place. Turns of a conversation are neighbors, and so are passages of one document: an answer follows its
 * question and often has none of its words.
 */
function neighbors(messages: readonly Message[], match: readonly number[]): readonly number[] {
  const best = new Array<number>(messages.length).fill(0);
  for (const [place, share] of SHARES.entries())
    for (let next = place + 1; next < messages.length; next += 1) {
      const at = next - place - 1;
      const [here = 0, there = 0] = [match[at], match[next]];
      if ((here === 0 && there === 0) || !areNeighbors(messages[at] as Message, messages[next] as Message)) continue;
      best[at] = Math.max(best[at] as number, share * there);
      best[next] = Math.max(best[next] as number, share * here);
    }
  return best;
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
 * the best match of the other texts that have it: one step of spreading activation (Collins and Loftus 1975). The names
 * of the text count over the square root of their number, as in cosine similarity, and those of its title by their
 * mean. Linear in the names.
 */
function sharedNames(
  requested: ReadonlySet<string>,
  texts: readonly MessageTerms[],
  match: readonly number[],
): readonly number[] {
  const holders = holdersOf(requested, texts, match);
  const most = rarity(texts.length, 0);
  for (const held of holders.values()) {
    const weight = held.count < 2 ? 0 : rarity(texts.length, held.count) / most;
    held.best *= weight;
    held.second *= weight;
  }
  const sumOf = (all: readonly string[], at: number): number => {
    let sum = 0;
    for (const name of all) {
      const held = holders.get(name);
      if (held !== undefined) sum += held.at === at ? held.second : held.best;
    }
    return sum;
  };
  return texts.map(
    ({ names, title }, at) =>
      sumOf(names, at) / Math.sqrt(1 + names.length) + sumOf(title, at) / Math.max(1, title.length),
  );
}

function holdersOf(requested: ReadonlySet<string>, texts: readonly MessageTerms[], match: readonly number[]) {
  const holders = new Map<string, Holders>();
  for (const [at, { names }] of texts.entries()) {
    const score = match[at] ?? 0;
    // A name found only in texts without a match connects nothing.
    if (score === 0) continue;
    for (const name of names) {
      const held = holders.get(name);
      if (held === undefined) {
        if (!requested.has(name)) holders.set(name, { best: score, at, second: 0, count: 0 });
      } else if (score > held.best) {
        held.second = held.best;
        held.best = score;
        held.at = at;
      } else if (score > held.second) held.second = score;
    }
  }
  if (holders.size === 0) return holders;
  for (const { names } of texts)
    for (const name of names) {
      const held = holders.get(name);
      if (held !== undefined) held.count += 1;
    }
  return holders;
}

const BM25: Bm25 = { saturation: 1.2, length: 0.75, least: 0 };

/**
 * How well each text matches the requested words: BM25 (Robertson et al. 1994), relative to a text of mean length that
 * has every word once; so 1 is a full match, and few texts exceed it. A word that no text has counts in the
 * denominator. Linear in texts times words.
 */
function lexicalMatch(requested: readonly string[], texts: readonly MessageTerms[]): readonly number[] {
  const meanLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length || 1;
  const scores = new Array<number>(texts.length).fill(0);
  let whole = 0;
  for (const stem of requested) {
    const having = new Map<number, number>();
    texts.forEach(({ counts }, at) => {
      const times = counts.get(stem);
      if (times !== undefined) having.set(at, times);
    });
    const weight = rarity(texts.length, having.size);
    whole += weight;
    for (const [at, times] of having) {
      const length = (texts[at] as MessageTerms).length / meanLength;
      scores[at] = (scores[at] as number) + weight * termScore(times, length, BM25);
    }
  }
  return whole === 0 ? scores : scores.map((score) => score / whole);
}

interface MessageTerms {
  /** Words of the title count once more. */
  readonly counts: ReadonlyMap<string, number>;
  /** Number of content words, with repetitions. */
  readonly length: number;
  /** Stems of words that are not in lower case: capitalized, of a script without case, or long numbers. */
  readonly names: readonly string[];
  /** Stems of the first line, if there are more. */
  readonly title: readonly string[];
  /** Stems of the name before a leading colon: "Ada Lovelace: …". */
  readonly speaker: readonly string[];
}

/** Only the beginning of a longer message is read. */
const MAX_CHARS = 100_000;
const NAME = /^(?:\p{Lu}|\p{Lo}|\p{N}{3})/u;
const TITLE = /^[^\S\n]*(\S.{0,200})\n/u;
const SPEAKER = /^\s*(\p{L}[\p{L}\p{M}.’'-]{0,30}(?: \p{L}[\p{L}\p{M}.’'-]{0,30}){0,2})(?::\s|：)/u;

/** Messages are immutable, so each is read once. */
const termsOfMessage = memoize(({ content }: Message) => readTerms(content.slice(0, MAX_CHARS)));

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
  const title = [...new Set(stemsOf(TITLE.exec(content)?.[1] ?? ''))];
  for (const stem of title) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return { counts, length, names: [...names], title, speaker: stemsOf(label?.[1] ?? '') };
}

/** The message with the same content, and the share of words that they have in common. */
export interface Duplicate {
  readonly of: string;
  readonly similarity: number;
}

/** The share of common content words from which two texts count as duplicates. */
const MIN_SIMILARITY = 0.8;
/** In a longer text, only the beginning is searched for numbers and negations. */
const MAX_MARKER_CHARS = 20_000;
/** Texts compared per common key: bounds the cost of hostile input in which every text resembles every other. */
const MAX_COMPARED = 8;
/** Numbers and negations: texts that differ in them make different statements. */
const FACT_MARKERS = /\p{N}+(?:[.,]\p{N}+)*|\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['’]t\b/gu;

interface Content {
  readonly terms: ReadonlyMap<string, number>;
  readonly names: readonly string[];
  /** Numbers and negations, joined. */
  readonly factMarkers: string;
  /** Duplicates have at least one of these in common. */
  readonly keys: readonly number[];
}

/** The messages of a list so far: by key, those that duplicate no other. */
interface Index {
  readonly list: Message[];
  readonly kept: Map<number, Message[]>;
  readonly found: Map<string, Duplicate>;
}

/** The last index by first message: a list that only grew continues it. */
const indexes = new WeakMap<Message, Index>();

/**
 * The messages that duplicate an earlier one of the list, by id: at least 0.8 of the content words in common, and the
 * same numbers, negations and names. Only texts with a common sketch key are compared, so the cost is linear; adding
 * one message costs one comparison step.
 */
export function nearDuplicates(messages: readonly Message[]): ReadonlyMap<string, Duplicate> {
  const [first] = messages;
  if (first === undefined) return new Map();
  const index = indexFor(messages, first);
  for (const message of messages.slice(index.list.length)) {
    const content = contentOf(message);
    const duplicate = bestOf(content, index.kept);
    if (duplicate !== null) index.found.set(message.id, duplicate);
    else for (const key of content.keys) keep(index.kept, key, message);
    index.list.push(message);
  }
  return new Map(index.found);
}

function indexFor(messages: readonly Message[], first: Message): Index {
  const known = indexes.get(first);
  if (known?.list.every((message, at) => message === messages[at])) return known;
  const index = { list: [], kept: new Map(), found: new Map() };
  indexes.set(first, index);
  return index;
}

function keep(kept: Map<number, Message[]>, key: number, message: Message): void {
  const there = kept.get(key);
  if (there === undefined) kept.set(key, [message]);
  else if (there.length < MAX_COMPARED) there.push(message);
}

function bestOf(content: Content, kept: ReadonlyMap<number, readonly Message[]>): Duplicate | null {
  let best: Duplicate | null = null;
  const seen = new Set<Message>();
  for (const key of content.keys)
    for (const other of kept.get(key) ?? []) {
      if (seen.has(other)) continue;
      seen.add(other);
      const similarity = inCommon(content, contentOf(other));
      if (similarity >= MIN_SIMILARITY && similarity > (best?.similarity ?? 0)) best = { of: other.id, similarity };
    }
  return best;
}

const contentOf = memoize((message: Message): Content => {
  const { counts, names } = termsOfMessage(message);
  const factMarkers = [...new Set(message.content.slice(0, MAX_MARKER_CHARS).toLowerCase().match(FACT_MARKERS) ?? [])]
    .sort()
    .join(' ');
  return { terms: counts, names, factMarkers, keys: counts.size === 0 ? [] : sketch(counts.keys()) };
});

/** Returns the Jaccard index of the content words; 0 if numbers, negations or names differ. */
function inCommon(one: Content, other: Content): number {
  if (one.factMarkers !== other.factMarkers || !hasNamesOf(one, other) || !hasNamesOf(other, one)) return 0;
  return jaccard(one.terms, other.terms);
}

function hasNamesOf({ terms }: Content, { names }: Content): boolean {
  for (const name of names) if (!terms.has(name)) return false;
  return true;
}
