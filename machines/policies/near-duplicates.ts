import type { Message } from '../contracts/message.ts';
import { jaccard, sketch } from '../text/similarity.ts';
import { termsOfMessage } from './relevance.ts';

/** The message with the same content, and the share of words that they have in common. */
export interface Duplicate {
  readonly of: string;
  readonly similarity: number;
}

/** The share of common content words from which two texts count as duplicates. */
const MIN_SIMILARITY = 0.8;
/** In a longer text, only the beginning is searched for numbers and negations. */
const MAX_CHARS = 20_000;
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

/** Messages are immutable, so each is read once. */
const known = new WeakMap<Message, Content>();

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

function contentOf(message: Message): Content {
  const read = known.get(message);
  if (read !== undefined) return read;
  const { counts, names } = termsOfMessage(message);
  const factMarkers = [...new Set(message.content.slice(0, MAX_CHARS).toLowerCase().match(FACT_MARKERS) ?? [])]
    .sort()
    .join(' ');
  const content = { terms: counts, names, factMarkers, keys: counts.size === 0 ? [] : sketch(counts.keys()) };
  known.set(message, content);
  return content;
}

/** Returns the Jaccard index of the content words; 0 if numbers, negations or names differ. */
function inCommon(one: Content, other: Content): number {
  if (one.factMarkers !== other.factMarkers || !hasNamesOf(one, other) || !hasNamesOf(other, one)) return 0;
  return jaccard(one.terms, other.terms);
}

function hasNamesOf({ terms }: Content, { names }: Content): boolean {
  for (const name of names) if (!terms.has(name)) return false;
  return true;
}
