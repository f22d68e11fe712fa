import { stemsOf } from '../../../machines/text/terms.ts';
import type { Steps } from '../../internal/async.ts';
import { type CandidateSpan, candidateSpans, MAX_ANSWER_CHARS } from './candidate-spans.ts';
import type { Evidence } from './evidence.ts';
import { type AnswerCue, answerCue, asksSeveralThings, namesIn, type Question, questionOf } from './question.ts';
import { nothingFound } from './wording.ts';

/** An answer; `span` is null if nothing relevant was found. */
export interface FoundAnswer {
  readonly text: string;
  /** 0..1; close to 0 if nothing relevant was found. */
  readonly confidence: number;
  readonly span: AnswerSpan | null;
  /** The request's words that no evidence contains. */
  readonly missing: readonly string[];
}

/** A span with less coverage shares words with the question but does not answer it. */
const MIN_COVERAGE = 0.3;
const UNRELATED_FACTOR = 0.2;

/** Returns the best span of the evidence, or a sentence stating that there is none, in steps. */
export function* findAnswer(request: string, evidence: readonly Evidence[]): Steps<FoundAnswer> {
  const question = yield* questionOf(request, []);
  const words = question.words(question.all);
  const span = yield* answerSpan(request, evidence);
  if (span !== null && span.coverage >= MIN_COVERAGE) {
    return { text: span.text, confidence: span.confidence, span, missing: span.missing };
  }
  const missing = span?.missing ?? words;
  const confidence = (span?.confidence ?? 0) * UNRELATED_FACTOR;
  return { text: nothingFound(words), confidence, span: null, missing };
}

/** The best answer in the evidence. Shares and confidence are 0..1. */
interface AnswerSpan {
  /** The span as in the evidence, and after a blank line a second span if the question needs two steps. */
  readonly text: string;
  /** The evidence of the text, in order. */
  readonly evidenceIds: readonly string[];
  readonly confidence: number;
  /** The share of the question's weight covered by the answer and its headings. */
  readonly coverage: number;
  /** The share covered by all evidence. */
  readonly gathered: number;
  /** How much better the first span is than the best one elsewhere. */
  readonly margin: number;
  /** The question's words in no evidence, and those in evidence but not in the answer. */
  readonly missing: readonly string[];
  readonly leftOpen: readonly string[];
}

/** The pieces of evidence that are searched sentence by sentence: those with most of the question's words. */
const MAX_EVIDENCE = 40;

/**
 * Returns the best contiguous span for a request (sentences, or a list with its introduction), or null if the evidence has none of its
 * words. Deterministic, linear in the evidence, and in steps of one piece of evidence or 100 spans.
 */
export function* answerSpan(request: string, evidence: readonly Evidence[]): Steps<AnswerSpan | null> {
  const question = yield* questionOf(request, evidence);
  const cue = answerCue(request);
  const spans: CandidateSpan[] = [];
  const scores: number[] = [];
  for (const at of likelyPlaces(question)) {
    const found = spansAt(evidence, at, question);
    spans.push(...found);
    scores.push(...found.map((span) => spanScore(span, question, cue)));
    yield;
  }
  const first = spans[indexOfMost(scores)];
  if (first === undefined) return null;
  const second = yield* bridgeFrom(first, spans, evidence, question, cue);
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

/** The minimum share that a second span must add, and what it must share with the first span. */
const MIN_GAIN = 0.05;
const MIN_IN_COMMON = 0.2;
const GAIN_ENOUGH = 0.3;
/** The weight of words that the first span has, too: they only indicate whether a named entity is the right one. */
const COVERED_SHARE = 0.3;
const COVERED_SHARE_UNNAMED = 0.1;
const NAMED_IN_HEADING = 0.3;
const NAMED_IN_SPAN = 0.15;
const CUE_BONUS = 0.15;
const SPANS_PER_STEP = 100;

/**
 * Returns the second half of an answer, or null: a span elsewhere with words of the question that the first span lacks. It must be about a
 * name introduced by the first span ("the first president of the association that publishes X": a bridge question of HotpotQA, Yang et
 * al. 2018), or the request must ask for several things.
 */
function* bridgeFrom(
  first: CandidateSpan,
  spans: readonly CandidateSpan[],
  evidence: readonly Evidence[],
  question: Question,
  cue: AnswerCue | null,
): Steps<CandidateSpan | null> {
  const covered = first.inSpan | first.inHeading;
  const open = question.all & ~covered;
  if (question.share(open) <= MIN_GAIN) return null;
  const several = asksSeveralThings(question.text);
  const names = newNames(`${evidence[first.evidence]?.heading ?? ''} . ${first.text}`, question);
  const headings = evidence.map(({ heading }) => hasName(heading, names));
  const remaining = MAX_ANSWER_CHARS - first.text.length - 2;
  let [best, bestScore]: [CandidateSpan | null, number] = [null, Number.NEGATIVE_INFINITY];
  for (const [at, span] of spans.entries()) {
    if (at % SPANS_PER_STEP === SPANS_PER_STEP - 1) yield;
    const inHeadingOnly = span.inHeading & ~span.inSpan;
    const gain = question.share(span.inSpan & open) + HEADING_SHARE * question.share(inHeadingOnly & open);
    if (gain <= MIN_GAIN || span.text.length > remaining || overlap(span, first)) continue;
    const inCommon = question.share((span.inSpan | span.inHeading) & covered);
    const byHeading = span.evidence !== first.evidence && headings[span.evidence] === true;
    const byText = span.evidence !== first.evidence && hasName(span.text, names);
    const asked = several && (inCommon >= MIN_IN_COMMON || gain >= GAIN_ENOUGH);
    if (!byHeading && !byText && !asked) continue;
    const named = (byHeading ? NAMED_IN_HEADING : 0) + (byText ? NAMED_IN_SPAN : 0);
    const coveredShare = named > 0 ? COVERED_SHARE : COVERED_SHARE_UNNAMED;
    const score = gain + coveredShare * inCommon + named + (cue?.(span.text) ? CUE_BONUS : 0) - readingCost(span);
    if (score > bestScore) [best, bestScore] = [span, score];
  }
  return best;
}

/** Returns the stems of names in a text that are not in the question. */
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

/** What the confidence of an answer is computed from. */
interface AnswerSigns {
  /** The share of the question's weight covered by the answer and its headings, 0..1. */
  readonly coverage: number;
  /** How much better the first span is than the best one elsewhere. */
  readonly margin: number;
  /** Whether the answer has the kind of information asked for; null if the question has no cue. */
  readonly cueMet: boolean | null;
  /** How many content words the question has. */
  readonly words: number;
}

/** An answer with all words of the question may still be wrong: on HotpotQA and MuSiQue, one in four is. */
const MAX_CONFIDENCE = 0.95;
const THIN_MARGIN = 0.2;
const MARGIN_SHARE = 0.15;
const UNMET_CUE_FACTOR = 0.9;
const FEW_WORDS = 3;
const FEW_WORDS_STEP = 0.1;

/**
 * Returns the confidence of an extracted answer, 0..1: its coverage, reduced if another place fits nearly as well, if the kind of
 * information asked for is missing, and if the question has few words.
 */
function confidenceOf({ coverage, margin, cueMet, words }: AnswerSigns): number {
  const clear = Math.max(0, Math.min(1, margin / THIN_MARGIN));
  const marginFactor = 1 - MARGIN_SHARE * (1 - clear);
  const cueFactor = cueMet === false ? UNMET_CUE_FACTOR : 1;
  const wordsFactor = 1 - FEW_WORDS_STEP * Math.max(0, FEW_WORDS - words);
  return Math.max(0, Math.min(1, MAX_CONFIDENCE * coverage * marginFactor * cueFactor * wordsFactor));
}

/** The weight of a term in the headings above a span, or only elsewhere in its passage; in the span it is 1. */
const HEADING_SHARE = 0.8;
const PASSAGE_SHARE = 0.3;
/** For a span with the kind of information asked for: a number, a date, a name, a reason. */
const SPAN_CUE_BONUS = 0.1;
/** For a section whose heading has only words of the question. */
const TOPIC_BONUS = 0.1;
/** The weight of a term in another list item than the question's other terms. */
const SCATTERED_SHARE = 0.6;
/** Each further sentence must add words of the question to be worth its cost; list items cost less. */
const FURTHER_UNIT_COST = 0.03;
const FURTHER_ITEM_COST = 0.01;
const MAX_FURTHER_UNITS = 4;
/** For a first sentence that refers back and cannot be understood alone. */
const POINTS_BACK_COST = 0.05;
const POINTS_BACK =
  /^(?:it|its|this|that|these|those|they|their|he|his|she|her|such|both|here|there|then|however|also|but|and|so)\b/i;

/** Returns how well a span answers a question, about 0..1.1; comparable within one question only. */
function spanScore(span: CandidateSpan, question: Question, cue: AnswerCue | null): number {
  const inHeading = span.inHeading & ~span.inSpan;
  const around = span.inPassage & ~span.inSpan & ~span.inHeading;
  const covered =
    question.share(span.inSpan & ~span.scattered) +
    SCATTERED_SHARE * question.share(span.scattered) +
    HEADING_SHARE * question.share(inHeading) +
    PASSAGE_SHARE * question.share(around);
  const bonus = (cue?.(span.text) ? SPAN_CUE_BONUS : 0) + (span.underTopic ? TOPIC_BONUS : 0);
  return covered + bonus - readingCost(span);
}

/** Returns the penalty of a span for its length, and for a start that refers back. */
function readingCost(span: CandidateSpan): number {
  const pointsBack = span.kind === 'prose' && POINTS_BACK.test(span.text);
  const unitCost = span.kind === 'prose' ? FURTHER_UNIT_COST : FURTHER_ITEM_COST;
  return unitCost * Math.min(MAX_FURTHER_UNITS, span.units - 1) + (pointsBack ? POINTS_BACK_COST : 0);
}
