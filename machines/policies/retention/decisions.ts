import type { ContextOperation } from '../../contracts/context.ts';
import type { Message } from '../../contracts/message.ts';
import { roundDown } from '../../text/clip.ts';
import { extractSummary } from '../../text/summary.ts';
import type { Rated } from '../relevance/rating.ts';
import { summaryTokens } from '../usage.ts';

/** What to do with a message that does not simply stay. User content waits for consent. */
export interface RetentionDecision {
  readonly one: Rated;
  readonly reason: string;
  /** The summary that replaces the message; null removes it. */
  readonly summary: { readonly content: string; readonly maxChars: number } | null;
}

/** By message id, in the order of the decisions; the last decision about a message counts. */
export type RetentionDecisions = Map<string, RetentionDecision>;

export function decideToRemove(decisions: RetentionDecisions, one: Rated, reason: string): void {
  decisions.delete(one.message.id);
  decisions.set(one.message.id, { one, reason, summary: null });
}

/** Replaces the message with a summary if that is shorter; returns whether it is. */
export function decideToSummarize(
  decisions: RetentionDecisions,
  one: Rated,
  maxChars: number,
  topic: string,
  reason: string,
): boolean {
  const { id, content } = one.message;
  const summary = content.length > maxChars ? extractOf(one.message, maxChars, topic) : '';
  if (summary === '') return false;
  decisions.delete(id);
  decisions.set(id, { one, reason, summary: { content: summary, maxChars } });
  return true;
}

/** Messages are immutable, so the extract for a topic is made once. */
const extracts = new WeakMap<Message, { readonly key: string; readonly extract: string }>();

function extractOf(message: Message, maxChars: number, topic: string): string {
  const key = `${maxChars} ${topic}`;
  const made = extracts.get(message);
  if (made?.key === key) return made.extract;
  const extract = extractSummary(message.content, maxChars, topic);
  extracts.set(message, { key, extract });
  return extract;
}

/** Tokens that a message keeps; user content keeps all until the user agrees. */
export function tokensLeft(decision: RetentionDecision): number {
  return decision.one.message.role === 'user' ? decision.one.tokens : tokensOnceAgreed(decision);
}

/** Tokens that a message keeps after any consent that it needs. */
export function tokensOnceAgreed({ one: { message, tokens }, summary }: RetentionDecision): number {
  return summary === null ? 0 : summaryTokens(tokens, message.content, summary.content);
}

/** The numbers to record with an operation: every factor of the message's relevance. */
export function numbersOf({ message, tokens, relevance, rating, factors }: Rated): ContextOperation['metadata'] {
  const { match, names, neighbors, speaker, recency, reference, importance, links, similarity } = factors;
  return {
    role: message.role,
    tokens,
    relevance,
    match: roundDown(match),
    names: roundDown(names),
    neighbours: roundDown(neighbors),
    speaker,
    recency: roundDown(recency),
    reference,
    importance: roundDown(importance),
    links,
    ...(similarity !== null && { similarity: roundDown(similarity) }),
    ...(rating !== null && { rating: roundDown(rating) }),
  };
}
