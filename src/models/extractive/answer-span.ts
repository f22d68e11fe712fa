import { type AnswerCue, answerCue } from './answer-cue.ts';
import { bridgeFrom } from './bridge.ts';
import { type CandidateSpan, candidateSpans } from './candidate-spans.ts';
import { confidenceOf } from './confidence.ts';
import type { Evidence } from './evidence.ts';
import { type Question, questionOf } from './question.ts';
import { spanScore } from './span-score.ts';

/** What answers a request best in the evidence. Shares and confidence are 0..1. */
export interface AnswerSpan {
  /** The span as it stands in the evidence; a second one, if the question takes two steps, follows after a blank line. */
  readonly text: string;
  /** The evidence that the text was taken from, in its order. */
  readonly evidenceIds: readonly string[];
  readonly confidence: number;
  /** The share of the question's weight that the answer and the headings above it have. */
  readonly coverage: number;
  /** The share that all the evidence has. */
  readonly gathered: number;
  /** How much better the first span is than the best one elsewhere. */
  readonly margin: number;
  /** The question's words that stand in no evidence, and those that stand in evidence but not in the answer. */
  readonly missing: readonly string[];
  readonly leftOpen: readonly string[];
}

/** Only so many pieces of evidence are looked at sentence by sentence: those with most of the question's words. */
const MAX_EVIDENCE = 40;

/**
 * The best contiguous span that answers a request (sentences, or a list with what leads into it), or null if the evidence
 * has none of its words. The same evidence in the same order gives the same span. Linear in the evidence.
 */
export function answerSpan(request: string, evidence: readonly Evidence[]): AnswerSpan | null {
  const question = questionOf(request, evidence);
  const cue = answerCue(request);
  const spans = likelyPlaces(question).flatMap((at) => spansAt(evidence, at, question));
  const scores = spans.map((span) => spanScore(span, question, cue));
  const first = spans[indexOfMost(scores)];
  if (first === undefined) return null;
  const second = bridgeFrom(first, spans, evidence, question, cue);
  const rivals = scores.filter((_, at) => spans[at]?.evidence !== first.evidence);
  const margin = spanScore(first, question, cue) - rivals.reduce((most, score) => Math.max(most, score), 0);
  return spanAnswer(
    question,
    evidence,
    [first, second].filter((span) => span !== null),
    margin,
    cue,
  );
}

function spanAnswer(
  question: Question,
  evidence: readonly Evidence[],
  spans: readonly CandidateSpan[],
  margin: number,
  cue: AnswerCue | null,
): AnswerSpan {
  const everywhere = question.inEvidence.reduce((all, set) => all | set, 0);
  const covered = spans.reduce((all, span) => all | span.inSpan | span.inHeading, 0);
  const text = spans.map((span) => span.text.trim()).join('\n\n');
  const coverage = question.share(covered);
  return {
    text,
    evidenceIds: spans.map((span) => evidence[span.evidence]?.id ?? ''),
    confidence: confidenceOf({
      coverage,
      margin,
      cueMet: cue === null ? null : cue(text),

      words: question.terms.length,
    }),
    coverage,
    gathered: question.share(everywhere),
    margin,
    missing: question.words(question.all & ~everywhere),
    leftOpen: question.words(everywhere & ~covered),
  };
}

function likelyPlaces(question: Question): number[] {
  const shares = question.inEvidence.map((set) => question.share(set));
  return [...shares.keys()]
    .sort((left, right) => (shares[right] ?? 0) - (shares[left] ?? 0) || left - right)
    .slice(0, MAX_EVIDENCE);
}

function spansAt(evidence: readonly Evidence[], at: number, question: Question): CandidateSpan[] {
  const piece = evidence[at];
  return piece === undefined ? [] : candidateSpans(piece, at, question);
}

function indexOfMost(scores: readonly number[]): number {
  let most = 0;
  for (const [at, score] of scores.entries()) if (score > (scores[most] ?? 0)) most = at;
  return most;
}
