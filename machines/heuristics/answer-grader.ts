import { isNoAnswer, requestKind } from './answer-fit.ts';
import { type ClaimInputs, claimedCompletion } from './completion-claim.ts';
import { groundingOf, unsupportedEntities } from './grounding.ts';
import { conflictsIn } from './intent-conflict.ts';
import type { EvidenceText } from './parsed-text.ts';
import { type DialogueTurn, SATISFIED, userSatisfaction } from './satisfaction.ts';
import { sufficiencyOf } from './sufficiency.ts';

/**
 * Judges requests and answers without a model. Every method is pure: the same arguments give the same result. Scores
 * are from 0 to 1. Policies use `defaultAnswerGrader` through this interface only, so they do not depend on the word
 * lists and formulas behind it. A chain cannot be given another grader.
 */
export interface AnswerGrader {
  /**
   * How far the evidence supports an answer. Null if there is nothing to check: an answer without content words, no evidence, or a
   * request to write something, which needs no source.
   */
  groundingOf(request: string, answer: string, evidence: readonly EvidenceText[]): number | null;
  /** Whether to believe the model's claim that its task is complete, and how far the answer supports that claim. */
  completionClaim(inputs: ClaimInputs): { readonly complete: boolean; readonly score: number };
  /** How far the evidence suffices to answer the request. */
  sufficiencyOf(request: string, evidence: readonly EvidenceText[]): number;
  /** How satisfied the user sounds in the last turn of a dialogue, and whether that is enough to end the run. */
  satisfactionOf(turns: readonly DialogueTurn[]): { readonly satisfied: boolean; readonly score: number };
  /** Pairs of instructions in the request that contradict each other, in words, each once. */
  intentConflicts(request: string): readonly string[];
  /** Whether the answer says that there is no answer. True for an empty one. */
  isNoAnswer(answer: string): boolean;
}

/** The grader that policies use: rules for English text, with weights fitted to the data sets in `bench/eval`. */
export const defaultAnswerGrader: AnswerGrader = {
  groundingOf(request, answer, evidence) {
    const kind = requestKind(request);
    if (kind === 'writing') return null;
    const { support, unsupported } = groundingOf(answer, evidence, request);
    if (support === null) return null;
    // A name or number that no text contains is probably invented.
    return unsupportedEntities(answer, unsupported, kind).length > 0 ? support / 2 : support;
  },
  completionClaim: claimedCompletion,
  sufficiencyOf: (request, evidence) => sufficiencyOf(request, evidence).score,
  satisfactionOf(turns) {
    const { score } = userSatisfaction(turns);
    return { satisfied: score >= SATISFIED, score };
  },
  intentConflicts: conflictsIn,
  isNoAnswer,
};
