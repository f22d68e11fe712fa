import type { ActionReply } from '../../../machines/contracts/phases/action.ts';
import type { PhaseInput } from '../../../machines/contracts/phases/input.ts';
import { messageEvidence } from './evidence.ts';
import { findAnswer } from './found-answer.ts';
import { nothingGathered } from './wording.ts';

/** Answers from the search results that are there [C4]; asks for no capability. */
export function replyAction(input: Extract<PhaseInput, { phase: 'action' }>): ActionReply {
  const evidence = messageEvidence(input.messages);
  const { text, confidence, missing } = findAnswer(input.request, evidence);
  return { response: evidence.length === 0 ? nothingGathered(missing) : text, confidence, call: null };
}
