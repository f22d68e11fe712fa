import type { ExperienceReply } from '../../../machines/contracts/phases/experience.ts';
import type { PhaseInput } from '../../../machines/contracts/phases/input.ts';
import { passageEvidence } from './evidence.ts';
import { findAnswer } from './found-answer.ts';
import { questionOf } from './question.ts';

/** A passage counts as relevant from this share of the best one's coverage on. */
const OF_THE_BEST = 0.5;
const LEAST_SHARE = 0.2;

/** Sums the retrieved passages up by their best span, and names the request's words that none of them has [C5]. */
export function replyExperience(input: Extract<PhaseInput, { phase: 'experience' }>): ExperienceReply {
  const evidence = passageEvidence(input.passages);
  const answer = findAnswer(input.request, evidence);
  const question = questionOf(input.request, evidence);
  const shares = question.inEvidence.map((set) => question.share(set));
  const least = Math.max(LEAST_SHARE, OF_THE_BEST * shares.reduce((most, share) => Math.max(most, share), 0));
  return {
    summary: answer.text,
    relevantPassageIds: evidence.filter((_, at) => (shares[at] ?? 0) >= least).map(({ id }) => id),
    missing: [...answer.missing],
    confidence: answer.confidence,
  };
}
