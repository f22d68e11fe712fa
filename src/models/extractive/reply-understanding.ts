import type { PhaseInput, UnderstandingReply } from '../../../machines/contracts/phase-io.ts';

import { messageEvidence } from './evidence.ts';
import { findAnswer } from './found-answer.ts';
import { messageRelevance } from './message-relevance.ts';
import { quoted } from './wording.ts';

/** Says what is known by now, in the documents' words, and how relevant every assistant and search message is [U1]. */
export function replyUnderstanding(input: Extract<PhaseInput, { phase: 'understanding' }>): UnderstandingReply {
  return {
    integrated: findAnswer(input.request, messageEvidence(input.messages)).text,
    assessments: messageRelevance(input.request, input.messages)
      .filter(({ message }) => message.role !== 'user')
      .map(({ message, relevance, words }) => ({
        messageId: message.id,
        relevance,
        reason: words.length === 0 ? 'has none of the words asked about' : `has ${quoted(words, 'and')}`,
      })),
  };
}
