import type { AnswerGrades, EvidenceText, GradingInput } from '../contracts/grading.ts';
import { type ClosingFeature, closingFeatures } from './closing.ts';
import { contradictionsIn } from './contradiction.ts';
import { type CompletionFeature, completionFeatures, groundingOf } from './grounding.ts';
import { isNoAnswer } from './no-answer.ts';
import { type Features, readEvidence, readStart } from './reading.ts';
import { type SufficiencyFeature, shareInOneSentence, sufficiencyFeatures } from './sufficiency.ts';
import { CLOSING_WEIGHTS, COMPLETION_WEIGHTS, probability, SUFFICIENCY_WEIGHTS } from './weights.ts';

/**
 * Grades an answer without a model: a pure function, for any language. Reads the first 20,000 characters of request and
 * answer, and the first 50,000 of each distinct text.
 */
export function gradeByDefault(input: GradingInput): AnswerGrades {
  const { request, answer, evidence } = input;
  const { completion, sufficiency, closing } = answerFeatures(input);
  return {
    grounding: supportFor(request, answer, evidence),
    completion: isNoAnswer(answer) ? 0 : probability(COMPLETION_WEIGHTS, completion),
    sufficiency: sufficiencyOf(input, sufficiency),
    satisfaction: closing === null ? 0 : probability(CLOSING_WEIGHTS, closing),
    contradictions: contradictionsIn(request),
  };
}

/** The features that the default grader weighs. */
export interface AnswerFeatures {
  readonly completion: Features<CompletionFeature>;
  readonly sufficiency: Features<SufficiencyFeature>;
  /** Null if the assistant has not answered before the user's last turn. */
  readonly closing: Features<ClosingFeature> | null;
}

/** Returns the features of an answer: what `npm run eval -- folds` fits the weights of the default grader to. */
export function answerFeatures(input: GradingInput): AnswerFeatures {
  return {
    completion: completionOf(input),
    sufficiency: sufficiencyFeatures(readStart(input.request), readEvidence(input.evidence)),
    closing: closingFeatures(input.dialogue),
  };
}

/** A name or number that no text has is probably invented. */
const INVENTED_FACTOR = 0.5;
/** Asks for a text that needs no source. */
const INVENTION =
  /^\W*(?:please |bitte )?(?:write|compose|draft|invent|imagine|translate|rewrite|paraphrase|schreib|verfasse|dichte|übersetze|écri[st]|rédige|traduis|escribe|redacta|traduce|scrivi|escreva|写|翻译|書いて)/iu;

/** Returns how far evidence supports an answer, 0..1; null if there is nothing to check. */
export function supportFor(request: string, answer: string, evidence: readonly EvidenceText[]): number | null {
  if (INVENTION.test(request.slice(0, 100))) return null;
  const { support, inventsName } = groundingOf(readStart(answer), readStart(request), readEvidence(evidence));
  return support === null ? null : support * (inventsName ? INVENTED_FACTOR : 1);
}

function completionOf({ request: asked, answer: given, evidence }: GradingInput): AnswerFeatures['completion'] {
  const [request, answer, texts] = [readStart(asked), readStart(given), readEvidence(evidence)];
  const grounding = groundingOf(answer, request, INVENTION.test(asked.slice(0, 100)) ? [] : texts);
  return completionFeatures(answer, request, grounding, texts.length < evidence.length);
}

/** Returns how far evidence suffices, 0..1: several texts together, or one sentence, of which missing words count twice. */
function sufficiencyOf({ request: asked, evidence }: GradingInput, features: AnswerFeatures['sufficiency']): number {
  const [request, texts] = [readStart(asked), readEvidence(evidence)];
  const isRelated = texts.some(({ terms }) => [...request.terms].some((term) => terms.has(term)));
  return isRelated ? Math.max(probability(SUFFICIENCY_WEIGHTS, features), shareInOneSentence(request, texts) ** 2) : 0;
}
