import * as z from 'zod/mini';
import type { Usage } from './usage.ts';

const evidenceTextSchema = z.object({ id: z.string(), content: z.string() });
/** A text found for a request, for example a search result. A short first line counts as its title. */
export type EvidenceText = Readonly<z.infer<typeof evidenceTextSchema>>;

const dialogueTurnSchema = z.object({ role: z.enum(['user', 'assistant']), content: z.string() });
/** One turn of a dialogue. */
export type DialogueTurn = Readonly<z.infer<typeof dialogueTurnSchema>>;

/** What a grader judges: one answer, after Yield. */
export const gradingInputSchema = z.object({
  request: z.string(),
  answer: z.string(),
  /** The model's reasons for its own assessment; may be empty. */
  rationale: z.string(),
  /** Whether the model claims that the task is complete. */
  claimsCompletion: z.boolean(),
  /** The search results in the context. */
  evidence: z.readonly(z.array(z.readonly(evidenceTextSchema))),
  /** The turns of user and assistant, ending with the request. */
  dialogue: z.readonly(z.array(z.readonly(dialogueTurnSchema))),
  /** The instructions that the answer had to follow; null if there are none. */
  instructions: z._default(z.nullable(z.string()), null),
});
export type GradingInput = Readonly<z.infer<typeof gradingInputSchema>>;

const gradeSchema = z.number().check(z.gte(0), z.lte(1));

/** The grades of one answer. */
export const answerGradesSchema = z.object({
  /** How far the evidence supports the answer, 0..1; null if there is nothing to check. */
  grounding: z.nullable(gradeSchema),
  /** How likely the answer completes the task, 0..1. A claim of completion is believed from 0.5. */
  completion: gradeSchema,
  /** How far the evidence suffices to answer the request, 0..1; by default, sufficient from 0.7. */
  sufficiency: gradeSchema,
  /** How likely the user's last words close the dialogue, 0..1: satisfied from 0.5. */
  satisfaction: gradeSchema,
  /** Instructions in the request that contradict each other, in words. */
  contradictions: z.readonly(z.array(z.string())),
});
export type AnswerGrades = Readonly<z.infer<typeof answerGradesSchema>>;

/** Grades of another grader. The default grader gives those that are missing. */
export type SomeGrades = { readonly [Grade in keyof AnswerGrades]?: AnswerGrades[Grade] | undefined };

/**
 * The result of the user's own grader or of a judge. If it failed, `problem` says why and there are no grades. `usage`
 * is that of the judge's model calls.
 */
export interface Grading {
  readonly grades: SomeGrades;
  readonly problem: string | null;
  readonly usage: Usage;
}
