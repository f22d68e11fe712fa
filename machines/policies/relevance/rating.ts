import type { Message } from '../../contracts/message.ts';
import type { UnderstandingReply } from '../../contracts/phases/understanding.ts';
import type { Thresholds } from '../../contracts/thresholds.ts';
import { estimateTokens } from '../usage.ts';
import { type Duplicate, nearDuplicates } from './near-duplicates.ts';
import { isProtected } from './protection.ts';
import { type Relevance, relevanceOf } from './relevance.ts';

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
