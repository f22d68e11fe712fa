import type { PhaseInput } from '../../../machines/contracts/phases/input.ts';
import type { ObservationReply } from '../../../machines/contracts/phases/observation.ts';
import { clipped } from './clipped.ts';
import { connectionsOf } from './connections.ts';
import { entitiesOf } from './entities.ts';
import { messageEvidence } from './evidence.ts';
import { findAnswer } from './found-answer.ts';
import { messageRelevance } from './message-relevance.ts';

const MAX_INSIGHT_CHARS = 300;
/** From this relevance on a search result that no answer used counts as undigested. */
const UNDIGESTED_RELEVANCE = 0.5;

/** Says which names recur, which messages belong together, and which are worth keeping [C7]. */
export function replyObservation(input: Extract<PhaseInput, { phase: 'observation' }>): ObservationReply {
  const relevance = messageRelevance(input.request, input.messages);
  const { span } = findAnswer(input.request, messageEvidence(input.messages));
  const gathered = input.messages.filter(({ role }) => role !== 'user');
  const used = new Set(
    input.messages.filter(({ role }) => role === 'assistant').flatMap(({ references }) => references),
  );
  return {
    insights: span === null ? [] : span.text.split('\n\n').map((part) => clipped(part, MAX_INSIGHT_CHARS)),
    undigested: relevance.some(
      ({ message, relevance: share }) =>
        message.role === 'search' && share >= UNDIGESTED_RELEVANCE && !used.has(message.id),
    ),
    entities: entitiesOf(gathered),
    connections: connectionsOf(gathered),
    importance: relevance
      .filter(({ message }) => message.role !== 'user')
      .map(({ message, relevance: score }) => ({ messageId: message.id, score })),
  };
}
