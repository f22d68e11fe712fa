import { stemsOf } from '../../../machines/text/terms.ts';
import type { AnswerCue } from './answer-cue.ts';
import { type CandidateSpan, MAX_ANSWER_CHARS } from './candidate-spans.ts';
import type { Evidence } from './evidence.ts';
import { asksSeveralThings } from './facets.ts';
import { namesIn } from './names.ts';
import type { Question } from './question.ts';
import { HEADING_SHARE, readingCost } from './span-score.ts';

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
export function bridgeFrom(
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
