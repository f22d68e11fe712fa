import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment } from '../contracts/decision.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phase-io.ts';
import { defaultAnswerGrader as grader } from '../heuristics/answer-grader.ts';
import { FAILED_TAG } from './context.ts';

type Scores = Pick<Assessment, 'confidence' | 'informationSufficiency' | 'taskComplete' | 'evidence'>;

/**
 * Corrects the model's own scores with the evidence in the context.
 * - Its confidence counts only if the evidence supports the answer.
 * - Its claim that the task is complete counts if the grader believes it; a satisfied user completes the task as well.
 * - Information sufficiency is the mean of the model's number and the grader's.
 * Without documents and search results, the model's own scores count.
 */
export function checkAgainstEvidence(state: ChainState, messages: readonly Message[], reply: YieldReply): Scores {
  const { request, hasDocuments, thresholds } = state;
  const { answer, rationale, taskComplete: claims } = reply;
  const evidence = evidenceIn(messages);
  const grounding = groundingIn(state, messages, answer);
  const sufficiency = hasDocuments ? grader.sufficiencyOf(request, evidence) : null;
  const claim = isCheckable(state, evidence)
    ? grader.completionClaim({ request, answer, claims, gathered: evidence, rationale })
    : null;
  const { satisfied, score: satisfaction } = grader.satisfactionOf(dialogueIn(messages));
  return {
    confidence:
      reply.noEvidence || grader.isNoAnswer(answer)
        ? Math.min(reply.confidence, thresholds.ungroundedConfidence)
        : groundedConfidence(state, reply.confidence, grounding),
    informationSufficiency:
      sufficiency === null ? reply.informationSufficiency : (reply.informationSufficiency + sufficiency) / 2,
    taskComplete: (claim?.complete ?? claims) || satisfied,
    evidence: {
      modelConfidence: reply.confidence,
      grounding,
      modelSufficiency: reply.informationSufficiency,
      sufficiency,
      claimsCompletion: claims,
      claim: claim?.score ?? null,
      satisfaction,
    },
  };
}

/** Returns how far the search results in the context support a text, 0..1; null if there is nothing to check. */
export function groundingIn(
  run: Pick<ChainState, 'request' | 'hasDocuments'>,
  messages: readonly Message[],
  text: string,
): number | null {
  const evidence = evidenceIn(messages);
  if (!isCheckable(run, evidence)) return null;
  return grader.groundingOf(run.request, text, evidence.length === 0 ? UNRELATED : evidence);
}

/** Returns the confidence, capped at `ungroundedConfidence` if the evidence does not support the answer. */
export function groundedConfidence(
  { thresholds }: { readonly thresholds: Pick<Thresholds, 'grounding' | 'ungroundedConfidence'> },
  confidence: number,
  grounding: number | null,
): number {
  const isGrounded = grounding === null || grounding >= thresholds.grounding;
  return isGrounded ? confidence : Math.min(confidence, thresholds.ungroundedConfidence);
}

/** Stands in for the results of a search that found nothing: it supports no answer. */
const UNRELATED = [{ id: 'nothing', content: 'nothing' }];

const evidenceIn = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(({ role, tags }) => role === 'search' && !tags.includes(FAILED_TAG));

const isCheckable = ({ hasDocuments }: Pick<ChainState, 'hasDocuments'>, evidence: readonly Message[]): boolean =>
  hasDocuments || evidence.length > 0;

/** Returns the conversation between user and assistant, ending with the request, without messages from phases. */
function dialogueIn(messages: readonly Message[]) {
  return messages.flatMap(({ role, phase, content }) =>
    role === 'search' || phase !== null ? [] : [{ role, content }],
  );
}
