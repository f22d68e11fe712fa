import type { SynthesisReply } from '../../../machines/contracts/synthesis.ts';
import type { SynthesisInput } from '../../../machines/contracts/synthesis-input.ts';
import { bestDraft } from '../../../machines/policies/synthesis/draft.ts';
import { type Evidence, messageEvidence } from './evidence.ts';
import { type FoundAnswer, findAnswer } from './found-answer.ts';
import { questionOf } from './question.ts';
import { isEmptyAnswer, quoted } from './wording.ts';

/** A draft is kept unless it covers clearly less of the question than the best span. */
const DRAFT_TOLERANCE = 0.05;

/** The final answer: the draft, or the best span where that is better, with a note that says how it was made [E2]. */
export function replySynthesis(input: SynthesisInput): SynthesisReply {
  const { request, run } = input;
  const evidence = messageEvidence(run.messages);
  const answer = findAnswer(request, evidence);
  const draft = bestDraft(input).text;
  const keepsDraft = !isEmptyAnswer(draft) && draftIsGood({ request, draft }, answer, evidence);
  const answerText = keepsDraft ? draft.trim() : answer.text;
  return {
    answerText,
    confidence: answer.confidence,
    usedMessageIds: keepsDraft ? quotedEvidence(answerText, answer, evidence) : [...(answer.span?.evidenceIds ?? [])],
    notes: notesOf(answer, isEmptyAnswer(answerText)),
  };
}

interface Drafted {
  readonly request: string;
  readonly draft: string;
}

function draftIsGood({ request, draft }: Drafted, answer: FoundAnswer, evidence: readonly Evidence[]): boolean {
  if (answer.span === null || answer.text === draft.trim()) return true;
  const question = questionOf(request, evidence);
  return question.share(question.termsIn(draft)) >= question.share(question.termsIn(answer.text)) - DRAFT_TOLERANCE;
}

/** The evidence that a draft's paragraphs were taken from. */
function quotedEvidence(draft: string, answer: FoundAnswer, evidence: readonly Evidence[]): string[] {
  if (answer.span !== null && answer.text === draft) return [...answer.span.evidenceIds];
  const paragraphs = draft
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
  return evidence.filter(({ body }) => paragraphs.some((paragraph) => body.includes(paragraph))).map(({ id }) => id);
}

function notesOf({ missing }: FoundAnswer, empty: boolean): string {
  const made = empty
    ? 'Made without a language model: the documents were searched and nothing that answers was found.'
    : 'Extractive: these are the words of the documents, chosen without a language model.';
  return missing.length === 0 ? made : `${made} Not found: ${quoted(missing, 'and')}.`;
}
