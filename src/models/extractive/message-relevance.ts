import type { Message } from '../../../machines/contracts/message.ts';
import { questionOf } from './question.ts';
import { isEmptyAnswer } from './wording.ts';

/** The share of a request's weight that a message covers, 0..1, and the covered words. */
export interface MessageRelevance {
  readonly message: Message;
  readonly relevance: number;
  readonly words: readonly string[];
}

/**
 * Returns the relevance of each message to the request, in order: the share of the request's content words, weighted by rarity. An answer
 * that nothing was found repeats the request's words, but has relevance 0. Linear in the context.
 */
export function messageRelevance(request: string, messages: readonly Message[]): MessageRelevance[] {
  const evidence = messages.map(({ id, content }) => ({ id, heading: '', body: content }));
  const question = questionOf(request, evidence);
  return messages.map((message, at) => {
    const empty = message.role === 'assistant' && isEmptyAnswer(message.content);
    const set = empty ? 0 : (question.inEvidence[at] ?? 0);
    return { message, relevance: question.share(set), words: question.words(set) };
  });
}
