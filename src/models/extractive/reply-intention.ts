import type { PhaseInput } from '../../../machines/contracts/phases/input.ts';
import type { IntentionReply } from '../../../machines/contracts/phases/intention.ts';
import { sentencesOf } from '../../../machines/text/sentences.ts';
import { requestTerms } from '../../../machines/text/terms.ts';
import { clipped } from './clipped.ts';
import { facetsOf } from './facets.ts';
import { messageRelevance } from './message-relevance.ts';
import { namesIn } from './names.ts';

const MAX_GOAL_CHARS = 300;
const MAX_REQUEST_CHARS = 20_000;

/** Restates the request as a goal, by its own sentences, and rates the messages by it [C6]. */
export function replyIntention(input: Extract<PhaseInput, { phase: 'intention' }>): IntentionReply {
  const request = input.request.slice(0, MAX_REQUEST_CHARS);
  const clarity = clarityOf(request);
  return {
    goal: goalOf(request),
    alternatives: facetsOf(request).map((facet) => clipped(facet, MAX_GOAL_CHARS)),
    clarity,
    unclearIntent: clarity === 0,
    alignment: messageRelevance(input.request, input.messages).map(({ message, relevance }) => ({
      messageId: message.id,
      score: message.role === 'user' && message.content.trim() === input.request.trim() ? 1 : relevance,
    })),
  };
}

/** The sentences that ask, or else the whole request. */
function goalOf(request: string): string {
  const sentences = sentencesOf(request).map(({ text }) => text);
  const asking = sentences.filter((sentence) => /[?？]/.test(sentence));
  return clipped((asking.length > 0 ? asking : sentences).join(' ') || request.trim(), MAX_GOAL_CHARS);
}

/** How specific a request is, 0..1: by its content words, and more for names, code and numbers. 0 without content words. */
function clarityOf(request: string): number {
  const words = requestTerms(request).length;
  if (words === 0) return 0;
  const afterFirstWord = request.trim().replace(/^\S+/, '');
  const specific = namesIn(afterFirstWord).length > 0 || /\d/.test(request);
  return Math.min(1, 0.3 + 0.15 * Math.min(4, words) + (specific ? 0.1 : 0));
}
