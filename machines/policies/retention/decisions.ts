import type { ContextOperation } from '../../contracts/context.ts';
import type { Message } from '../../contracts/message.ts';
import { floored } from '../../text/clip.ts';
import { extractSummary } from '../../text/summary.ts';
import type { Rated } from '../relevance/rating.ts';
import { summaryTokens } from '../usage.ts';

/** What is to become of a message that does not simply stay. User content waits for consent [U8]. */
export interface RetentionDecision {
  readonly one: Rated;
  readonly reason: string;
  /** The summary that takes the message's place, or null: it goes. */
  readonly summary: { readonly content: string; readonly maxChars: number } | null;
}

/** By message id, in the order of the decisions: the last word on a message counts. */
export type RetentionDecisions = Map<string, RetentionDecision>;

export function goes(fates: RetentionDecisions, one: Rated, reason: string): void {
  fates.delete(one.message.id);
  fates.set(one.message.id, { one, reason, summary: null });
}

/** A summary in place of the message, where it would be shorter. Gives whether it is. */
export function isSummarized(
  fates: RetentionDecisions,
  one: Rated,
  maxChars: number,
  topic: string,
  reason: string,
): boolean {
  const { id, content } = one.message;
  const summary = content.length > maxChars ? extractOf(one.message, maxChars, topic) : '';
  if (summary === '') return false;
  fates.delete(id);
  fates.set(id, { one, reason, summary: { content: summary, maxChars } });
  return true;
}

/** A message never changes, so its extract for a topic is made once. */
const extracts = new WeakMap<Message, { readonly key: string; readonly extract: string }>();

function extractOf(message: Message, maxChars: number, topic: string): string {
  const key = `${maxChars} ${topic}`;
  const made = extracts.get(message);
  if (made?.key === key) return made.extract;
  const extract = extractSummary(message.content, maxChars, topic);
  extracts.set(message, { key, extract });
  return extract;
}

/** Tokens that a message keeps: user content keeps all until the user agrees. */
export function tokensLeft(fate: RetentionDecision): number {
  return fate.one.message.role === 'user' ? fate.one.tokens : tokensOnceAgreed(fate);
}

/** Tokens that a message keeps once the user has agreed, where that is needed. */
export function tokensOnceAgreed({ one: { message, tokens }, summary }: RetentionDecision): number {
  return summary === null ? 0 : summaryTokens(tokens, message.content, summary.content);
}

/** The numbers that an operation tells of a message: every factor that its relevance was made of [U7, U13]. */
export function numbersOf({ message, tokens, relevance, rating, factors }: Rated): ContextOperation['metadata'] {
  const { match, names, neighbours, speaker, recency, reference, importance, links, similarity } = factors;
  return {
    role: message.role,
    tokens,
    relevance,
    match: floored(match),
    names: floored(names),
    neighbours: floored(neighbours),
    speaker,
    recency: floored(recency),
    reference,
    importance: floored(importance),
    links,
    ...(similarity !== null && { similarity: floored(similarity) }),
    ...(rating !== null && { rating: floored(rating) }),
  };
}
