import type { FinalAnswer } from '../../../../machines/contracts/synthesis.ts';
import { aFinalAnswer } from '../../../machines/contracts/samples.ts';

/** A degraded answer as the engine composes it: its explanation is the end of its notes. */
export function aDegradedAnswer(changes: Partial<FinalAnswer> = {}): FinalAnswer {
  const answer = aFinalAnswer({
    answerText: 'Perhaps in 1932.',
    confidence: 0.4,
    status: 'degraded',
    notes: 'The day is unsure. The limit of 1 cycle was reached.',
    ...changes,
  });
  const metadata = {
    ...answer.metadata,
    degraded: true,
    reason: 'ttl_exhausted' as const,
    explanation: 'The limit of 1 cycle was reached.',
    missingFields: ['experience', 'answer'],
  };
  return { ...answer, metadata };
}
