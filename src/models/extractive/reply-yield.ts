import type { PhaseInput, YieldReply } from '../../../machines/contracts/phase-io.ts';

import { messageEvidence } from './evidence.ts';
import { type FoundAnswer, findAnswer } from './found-answer.ts';
import { percent, quoted } from './wording.ts';

/** From this share of the question's weight on the answer counts as covering the question. */
const COMPLETE_COVERAGE = 0.8;

/** Gives the best span as the answer and says how much of the question it covers [Y1]; proposes, decides nothing. */
export function replyYield(input: Extract<PhaseInput, { phase: 'yield' }>): YieldReply {
  const answer = findAnswer(input.request, messageEvidence(input.messages));
  const { span, missing } = answer;
  return {
    answer: answer.text,
    confidence: answer.confidence,
    taskComplete: span !== null && span.coverage >= COMPLETE_COVERAGE,
    informationSufficiency: span === null ? 0 : (span.coverage + span.gathered) / 2,
    needsTools: false,
    proposedPhase: span === null || missing.length > 0 ? 'experience' : null,
    rationale: rationaleOf(answer),
    usedMessageIds: span === null ? [] : [...span.evidenceIds],
  };
}

function rationaleOf({ span, missing }: FoundAnswer): string {
  const lacking = missing.length === 0 ? '' : `; nothing gathered has ${quoted(missing)}`;
  if (span === null) return `No passage answers the question${lacking}.`;
  const lead = `${percent(Math.max(0, span.margin))} ahead of the next best place`;
  return `The chosen passage covers ${percent(span.coverage)} of the question's weight, ${lead}${lacking}.`;
}
