import type { AnswerCue } from './answer-cue.ts';
import type { CandidateSpan } from './candidate-spans.ts';
import type { Question } from './question.ts';

/** What a term counts that stands in the headings above a span, or only elsewhere in its passage; in the span it counts 1. */
export const HEADING_SHARE = 0.8;
const PASSAGE_SHARE = 0.3;
/** The span has the kind of thing that was asked for: a number, a date, a name, a reason. */
const CUE_BONUS = 0.1;
/** The section has just the question's words as its heading. */
const TOPIC_BONUS = 0.1;
/** A term that stands in another item than the rest of the question's terms. */
const SCATTERED_SHARE = 0.6;
/** Each further sentence must bring words of the question to be worth reading; items of a list cost less. */
const FURTHER_UNIT_COST = 0.03;
const FURTHER_ITEM_COST = 0.01;
const MOST_FURTHER_UNITS = 4;
/** A first sentence that points back cannot be understood alone. */
const POINTS_BACK_COST = 0.05;
const POINTS_BACK =
  /^(?:it|its|this|that|these|those|they|their|he|his|she|her|such|both|here|there|then|however|also|but|and|so)\b/i;

/** How well a span answers a question; about 0..1.1, comparable within one question only. */
export function spanScore(span: CandidateSpan, question: Question, cue: AnswerCue | null): number {
  const inHeading = span.inHeading & ~span.inSpan;
  const around = span.inPassage & ~span.inSpan & ~span.inHeading;
  const covered =
    question.share(span.inSpan & ~span.scattered) +
    SCATTERED_SHARE * question.share(span.scattered) +
    HEADING_SHARE * question.share(inHeading) +
    PASSAGE_SHARE * question.share(around);
  const bonus = (cue?.(span.text) ? CUE_BONUS : 0) + (span.underTopic ? TOPIC_BONUS : 0);
  return covered + bonus - readingCost(span);
}

/** What it costs to read a span: its length, and a beginning that points back. */
export function readingCost(span: CandidateSpan): number {
  const pointsBack = span.kind === 'prose' && POINTS_BACK.test(span.text);
  const unitCost = span.kind === 'prose' ? FURTHER_UNIT_COST : FURTHER_ITEM_COST;
  return unitCost * Math.min(MOST_FURTHER_UNITS, span.units - 1) + (pointsBack ? POINTS_BACK_COST : 0);
}
