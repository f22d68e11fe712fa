import type { Thresholds } from '../../contracts/limits.ts';
import type { Message } from '../../contracts/message.ts';
import type { UnderstandingReply } from '../../contracts/phase-io.ts';
import { jaccard, sketch } from '../../text/similarity.ts';
import { isProtected } from '../context.ts';
import { estimateTokens } from '../usage.ts';
import { type Relevance, relevanceOf, termsOfMessage } from './relevance.ts';

/** A message with what is known of its worth. */
export interface Rated {
  readonly message: Message;
  readonly tokens: number;
  /** The policy's number, or, where the model rated the message, the mean of both. */
  readonly relevance: number;
  readonly factors: Relevance;
  readonly rating: number | null;
  /** The search result that says the same, where there is one. */
  readonly duplicate: Duplicate | null;
}

export interface Rating {
  readonly messages: readonly Message[];
  /** Tokens of each message, in order. */
  readonly tokens: readonly number[];
  /** How similar each message is to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
  readonly request: string;
  readonly cycle: number;
  readonly assessments: UnderstandingReply['assessments'];
  readonly thresholds: Thresholds;
}

/** Every message of the context, rated [U1]. Linear; no message is read twice. */
export function rate(given: Rating): readonly Rated[] {
  const { messages, tokens, request, cycle, similarity, thresholds } = given;
  const byModel = new Map(
    given.assessments.flatMap(({ messageId, relevance }) =>
      Number.isFinite(relevance) ? [[messageId, Math.min(1, Math.max(0, relevance))] as const] : [],
    ),
  );
  const relevances = relevanceOf(messages, { request, cycle, similarity, halfLifeCycles: thresholds.halfLifeCycles });
  const duplicates = nearDuplicates(worthiestFirst(messages, relevances));
  return messages.map((message, at): Rated => {
    const factors = relevances[at] as Relevance;
    const rating = byModel.get(message.id) ?? null;
    const relevance = rating === null ? factors.score : (factors.score + rating) / 2;
    const duplicate = duplicates.get(message.id) ?? null;
    return { message, tokens: countOf(tokens[at], message), relevance, factors, rating, duplicate };
  });
}

/** Of search results that say the same, a protected one stays, then one that others refer to, then the newest, then the first. */
function worthiestFirst(messages: readonly Message[], relevances: readonly Relevance[]): readonly Message[] {
  const ranks: Message[][] = [[], [], []];
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'search') continue;
    const isReferenced = relevances[at]?.reference === 1;
    ranks[isProtected(message) ? 0 : isReferenced ? 1 : 2]?.push(message);
  }
  ranks[2]?.sort((one, other) => other.cycle - one.cycle);
  return ranks.flat();
}

/** A count that is no number, or below nought, is estimated. */
function countOf(tokens: number | undefined, { content }: Message): number {
  return tokens !== undefined && tokens >= 0 && Number.isFinite(tokens) ? tokens : estimateTokens(content);
}

/** The message that says the same, and the share of words that both have. */
interface Duplicate {
  readonly of: string;
  readonly similarity: number;
}

/** From this share of content words in common on, two texts say the same. */
const SAME = 0.8;
/** In a longer text, numbers and negations are looked for at the beginning. */
const MAX_CHARS = 20_000;
/** So that hostile texts, all a little alike, cannot make it slow: of those with a key in common, so many are compared. */
const MAX_COMPARED = 8;
/** What no rewording changes: a number or a "not" more makes another statement. */
const TELLING = /\p{N}+(?:[.,]\p{N}+)*|\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['’]t\b/gu;

interface Content {
  readonly terms: ReadonlyMap<string, number>;
  readonly names: ReadonlySet<string>;
  /** Numbers and negations, in one text. */
  readonly telling: string;
  /** Texts that say the same have one of these in common. */
  readonly keys: readonly number[];
}

/** A message never changes, so its sketch is made once. */
const known = new WeakMap<Message, Content>();

/** What was found in a list so far: by key, those that stand for themselves. */
interface Index {
  readonly list: Message[];
  readonly kept: Map<number, Message[]>;
  readonly found: Map<string, Duplicate>;
}

/** The newest index of the lists that begin with a message: a list that only grew is gone on with. */
const indexes = new WeakMap<Message, Index>();

/**
 * The messages that say what an earlier one of the list says, by id: at least 0.8 of the content words in common, and the same
 * numbers, negations and names. Only texts whose sketches meet are compared, so that the cost is linear; one message more costs one.
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
      if (similarity >= SAME && similarity > (best?.similarity ?? 0)) best = { of: other.id, similarity };
    }
  return best;
}

function contentOf(message: Message): Content {
  const read = known.get(message);
  if (read !== undefined) return read;
  const { counts, names } = termsOfMessage(message);
  const telling = [...new Set(message.content.slice(0, MAX_CHARS).toLowerCase().match(TELLING) ?? [])].sort().join(' ');
  const content = { terms: counts, names, telling, keys: counts.size === 0 ? [] : sketch(counts.keys()) };
  known.set(message, content);
  return content;
}

/** The Jaccard index of the content words; 0 where the numbers, the negations or the names differ. */
function inCommon(one: Content, other: Content): number {
  if (one.telling !== other.telling || !hasNamesOf(one, other) || !hasNamesOf(other, one)) return 0;
  return jaccard(one.terms, other.terms);
}

function hasNamesOf({ terms }: Content, { names }: Content): boolean {
  for (const name of names) if (!terms.has(name)) return false;
  return true;
}
