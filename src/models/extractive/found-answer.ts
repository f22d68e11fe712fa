import { type AnswerSpan, answerSpan } from './answer-span.ts';
import type { Evidence } from './evidence.ts';
import { questionOf } from './question.ts';
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
