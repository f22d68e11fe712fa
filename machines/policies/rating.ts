import type { Message } from '../contracts/message.ts';
import type { UnderstandingReply } from '../contracts/phases/understanding.ts';
import type { Thresholds } from '../contracts/thresholds.ts';
import { topicWords, wordKey } from '../text/words.ts';
import { referencedIds, relevanceOf } from './relevance.ts';

/** A message with what is known of its worth. */
export interface Rated {
  readonly message: Message;
  /** The policy's number, or, where the model rated the message, the mean of both. */
  readonly relevance: number;
  readonly rating: number | null;
  readonly referenced: boolean;
  /** The id of a search result before it that holds the same words. */
  readonly saysTheSameAs: string | null;
}

export interface Rating {
  readonly messages: readonly Message[];
  readonly request: string;
  readonly cycle: number;
  readonly assessments: UnderstandingReply['assessments'];
  readonly thresholds: Thresholds;
}

/** Every message of the context, rated [U1]. Linear. */
export function rate({ messages, request, cycle, assessments, thresholds }: Rating): readonly Rated[] {
  const byModel = new Map(assessments.map(({ messageId, relevance }) => [messageId, relevance]));
  const referenced = referencedIds(messages);
  const shared = { topic: topicWords(request), referenced, cycle, halfLifeCycles: thresholds.halfLifeCycles };
  const first = new Map<string, string>();
  return messages.map((message) => {
    const own = relevanceOf(message, shared).score;
    const rating = byModel.get(message.id) ?? null;
    const key = message.role === 'search' ? wordKey(message.content) : null;
    const saysTheSameAs = key === null ? null : (first.get(key) ?? null);
    if (key !== null && saysTheSameAs === null) first.set(key, message.id);
    return {
      message,
      relevance: rating === null ? own : (own + rating) / 2,
      rating,
      referenced: referenced.has(message.id),
      saysTheSameAs,
    };
  });
}
