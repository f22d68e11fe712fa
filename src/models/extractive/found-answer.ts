import { stemsOf } from '../../../machines/text/terms.ts';
import { type AnswerCue, answerCue } from './answer-cue.ts';
import { type CandidateSpan, candidateSpans, MAX_ANSWER_CHARS } from './candidate-spans.ts';
import type { Evidence } from './evidence.ts';
import { asksSeveralThings } from './facets.ts';
import { namesIn } from './names.ts';
import { type Question, questionOf } from './question.ts';
import { HEADING_SHARE, readingCost, spanScore } from './span-score.ts';
import { nothingFound } from './wording.ts';

/** An answer in words, whatever the evidence is; `span` is null where nothing relevant was found. */
export interface FoundAnswer {
  readonly text: string;
  /** 0..1; near 0 where nothing relevant was found. */
  readonly confidence: number;
  readonly span: AnswerSpan | null;
  /** The request's words that no evidence has. */
  readonly missing: readonly string[];
}

/** With less of the question's weight a span has words in common with the question, but does not answer it. */
const LEAST_COVERAGE = 0.3;
const UNRELATED_FACTOR = 0.2;

/** The best span of the evidence, or a plain sentence that says that there is none. */
export function findAnswer(request: string, evidence: readonly Evidence[]): FoundAnswer {
  const question = questionOf(request, []);
  const words = question.words(question.all);
  const span = answerSpan(request, evidence);
  if (span !== null && span.coverage >= LEAST_COVERAGE) {
    return { text: span.text, confidence: span.confidence, span, missing: span.missing };
  }
  const missing = span?.missing ?? words;
  const confidence = (span?.confidence ?? 0) * UNRELATED_FACTOR;
  return { text: nothingFound(words), confidence, span: null, missing };
}

/** What answers a request best in the evidence. Shares and confidence are 0..1. */
interface AnswerSpan {
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

/** The least share of the question's weight that a second span must add, and what it must share with the first otherwise. */
const LEAST_GAIN = 0.05;
const LEAST_IN_COMMON = 0.2;
const GAIN_ENOUGH = 0.3;
/** What words count that the first span has, too: they tell whether a named thing is the right one, and little else. */
const COVERED_SHARE = 0.3;
const COVERED_SHARE_UNNAMED = 0.1;
const NAMED_IN_HEADING = 0.3;
const NAMED_IN_SPAN = 0.15;
const CUE_BONUS = 0.15;

/**
 * The second half of an answer, or null if there is none: a span elsewhere that has words of the question which the first
 * one leaves open. It must be about a name that the first one brought in ("the first president of the association that
 * publishes X": the bridge of HotpotQA, Yang and others 2018), or the request must ask for several things.
 */
function bridgeFrom(
  first: CandidateSpan,
  spans: readonly CandidateSpan[],
  evidence: readonly Evidence[],
  question: Question,
  cue: AnswerCue | null,
): CandidateSpan | null {
  const covered = first.inSpan | first.inHeading;
  const open = question.all & ~covered;
  if (question.share(open) <= LEAST_GAIN) return null;
  const several = asksSeveralThings(question.text);
  const names = newNames(`${evidence[first.evidence]?.heading ?? ''} . ${first.text}`, question);
  const headings = evidence.map(({ heading }) => hasName(heading, names));
  const room = MAX_ANSWER_CHARS - first.text.length - 2;
  let [best, bestScore]: [CandidateSpan | null, number] = [null, Number.NEGATIVE_INFINITY];
  for (const span of spans) {
    const inHeadingOnly = span.inHeading & ~span.inSpan;
    const gain = question.share(span.inSpan & open) + HEADING_SHARE * question.share(inHeadingOnly & open);
    if (gain <= LEAST_GAIN || span.text.length > room || overlap(span, first)) continue;
    const inCommon = question.share((span.inSpan | span.inHeading) & covered);
    const byHeading = span.evidence !== first.evidence && headings[span.evidence] === true;
    const byText = span.evidence !== first.evidence && hasName(span.text, names);
    const asked = several && (inCommon >= LEAST_IN_COMMON || gain >= GAIN_ENOUGH);
    if (!byHeading && !byText && !asked) continue;
    const named = (byHeading ? NAMED_IN_HEADING : 0) + (byText ? NAMED_IN_SPAN : 0);
    const coveredShare = named > 0 ? COVERED_SHARE : COVERED_SHARE_UNNAMED;
    const score = gain + coveredShare * inCommon + named + (cue?.(span.text) ? CUE_BONUS : 0) - readingCost(span);
    if (score > bestScore) [best, bestScore] = [span, score];
  }
  return best;
}

/** The names in a text that the question does not have, as stems. */
function newNames(text: string, question: Question): string[][] {
  const asked = new Set(stemsOf(question.text));
  return namesIn(text)
    .map((name) => stemsOf(name).filter((stem) => !asked.has(stem)))
    .filter((name) => name.length > 0);
}

function hasName(text: string, names: readonly (readonly string[])[]): boolean {
  const stems = new Set(stemsOf(text));
  return names.some((name) => name.every((stem) => stems.has(stem)));
}

function overlap(span: CandidateSpan, first: CandidateSpan): boolean {
  return span.evidence === first.evidence && span.from < first.to && first.from < span.to;
}

/** What is known of how an answer was found. */
interface AnswerSigns {
  /** The share of the question's weight that the answer and its headings have, 0..1. */
  readonly coverage: number;
  /** How much better the first span is than the best one elsewhere. */
  readonly margin: number;
  /** Whether the kind of thing asked for is there; null if the question does not show it. */
  readonly cueMet: boolean | null;
  /** How many content words the question has. */
  readonly words: number;
}

/** Even an answer with all the words of the question may not be one: on HotpotQA and MuSiQue one in four is none. */
const MOST = 0.95;
const THIN_MARGIN = 0.2;
const MARGIN_SHARE = 0.15;
const UNMET_CUE_FACTOR = 0.9;
const FEW_WORDS = 3;
const FEW_WORDS_STEP = 0.1;

/**
 * How sure an extracted answer is, 0..1: the coverage, less where another place fits nearly as well, where the kind of
 * thing asked for is not there, and where the question has so few words that covering them says little.
 */
function confidenceOf({ coverage, margin, cueMet, words }: AnswerSigns): number {
  const clear = Math.max(0, Math.min(1, margin / THIN_MARGIN));
  const marginFactor = 1 - MARGIN_SHARE * (1 - clear);
  const cueFactor = cueMet === false ? UNMET_CUE_FACTOR : 1;
  const wordsFactor = 1 - FEW_WORDS_STEP * Math.max(0, FEW_WORDS - words);
  return Math.max(0, Math.min(1, MOST * coverage * marginFactor * cueFactor * wordsFactor));
}
