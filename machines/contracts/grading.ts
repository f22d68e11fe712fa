import { z } from 'zod';

/** A text found for a request, for example a search result. A short first line counts as its title. */
export interface EvidenceText {
  readonly id: string;
  readonly content: string;
}

/** One turn of a dialogue. */
export interface DialogueTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What a grader judges: one answer, after Yield. */
export interface GradingInput {
  readonly request: string;
  readonly answer: string;
  /** The model's reasons for its own assessment; may be empty. */
  readonly rationale: string;
  /** Whether the model claims that the task is complete. */
  readonly claimsCompletion: boolean;
  /** The search results in the context. */
  readonly evidence: readonly EvidenceText[];
  /** The turns of user and assistant, ending with the request. */
  readonly dialogue: readonly DialogueTurn[];
}

const gradeSchema = z.number().min(0).max(1);

/** The grades of one answer. */
export const answerGradesSchema = z.object({
  /** How far the evidence supports the answer, 0..1; null if there is nothing to check. */
  grounding: gradeSchema.nullable(),
  /** How likely the answer completes the task, 0..1. A claim of completion is believed from 0.5. */
  completion: gradeSchema,
  /** How far the evidence suffices to answer the request, 0..1; by default, sufficient from 0.7. */
  sufficiency: gradeSchema,
  /** How likely the user's last words close the dialogue, 0..1: satisfied from 0.5. */
  satisfaction: gradeSchema,
  /** Instructions in the request that contradict each other, in words. */
  contradictions: z.array(z.string()).readonly(),
});
export type AnswerGrades = Readonly<z.infer<typeof answerGradesSchema>>;

/** Grades of another grader. The default grader gives those that are missing. */
export type SomeGrades = Partial<AnswerGrades>;
