import type { Message } from '../contracts/message.ts';
import { topicWords } from '../text/words.ts';

/** What each factor counts, out of 1 [U1]. */
export const RELEVANCE_WEIGHTS = { match: 0.35, recency: 0.25, reference: 0.2, importance: 0.15, links: 0.05 } as const;

export interface RelevanceInputs {
  readonly topic: ReadonlySet<string>;
  readonly referenced: ReadonlySet<string>;
  readonly cycle: number;
  readonly halfLifeCycles: number;
}

/** The factors of a message's relevance, each 0..1, and their weighted sum. */
export interface Relevance {
  readonly match: number;
  readonly recency: number;
  readonly reference: number;
  readonly importance: number;
  readonly links: number;
  readonly score: number;
}

/** Ids that other messages were made from or are linked to [U2]. */
export function referencedIds(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap((message) => [...message.references, ...message.links.map((link) => link.to)]));
}

/** How relevant a message is to the request. Recency halves every `halfLifeCycles` [U11]. */
export function relevanceOf(message: Message, inputs: RelevanceInputs): Relevance {
  const factors = {
    match: shareCovered(inputs.topic, wordsOf(message)),
    recency: recency(inputs.cycle - message.cycle, inputs.halfLifeCycles),
    reference: inputs.referenced.has(message.id) ? 1 : 0,
    importance: message.importance,
    links: Math.min(1, message.links.length / 2),
  };
  const score =
    factors.match * RELEVANCE_WEIGHTS.match +
    factors.recency * RELEVANCE_WEIGHTS.recency +
    factors.reference * RELEVANCE_WEIGHTS.reference +
    factors.importance * RELEVANCE_WEIGHTS.importance +
    factors.links * RELEVANCE_WEIGHTS.links;
  return { ...factors, score: Math.min(1, Math.max(0, score)) };
}

/** A message never changes, so its words are found once. */
const wordsByMessage = new WeakMap<Message, ReadonlySet<string>>();

function wordsOf(message: Message): ReadonlySet<string> {
  const known = wordsByMessage.get(message);
  if (known !== undefined) return known;
  const words = topicWords(message.content);
  wordsByMessage.set(message, words);
  return words;
}

/** Half as much with each half-life; a clock or cycle that goes back counts as now. */
export function recency(age: number, halfLife: number): number {
  return 0.5 ** (Math.max(0, age) / halfLife);
}

function shareCovered(wanted: ReadonlySet<string>, there: ReadonlySet<string>): number {
  if (wanted.size === 0) return 0;
  let covered = 0;
  for (const word of wanted) if (there.has(word)) covered += 1;
  return covered / wanted.size;
}
