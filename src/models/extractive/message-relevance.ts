import type { Message } from '../../../machines/contracts/message.ts';
import { questionOf } from './question.ts';
import { isEmptyAnswer } from './wording.ts';

/** How much of a request's weight a message has, 0..1, and which of its words. */
export interface MessageRelevance {
  readonly message: Message;
  readonly relevance: number;
  readonly words: readonly string[];
}

/**
 * The relevance of each message to the request, in order: the share of the request's content words, weighted by rarity. An
 * answer that only says that nothing was found repeats the request's words and still has none. Linear in the context.
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
