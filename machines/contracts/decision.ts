import * as z from 'zod/mini';
import { phaseSchema } from './phase.ts';

/** The values that a guard compared: flat, so that each can be shown beside its guard. */
export const guardInputsSchema = z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]));

/** The result of a guard's policy, with the values it compared. */
const guardResultSchema = z.object({ holds: z.boolean(), inputs: guardInputsSchema });
export type GuardResult = Readonly<z.infer<typeof guardResultSchema>>;

/**
 * One decision of Yield, with its reason and the values it compared. `rule` is one of `YIELD_RULES`, or
 * `nextPhaseChosen`, `nextPhaseInvalid` or `directedByUser`. `nextPhase` is null if the run is complete.
 */
export const decisionSchema = z.object({
  cycle: z.int().check(z.gte(1)),
  rule: z.string().check(z.minLength(1)),
  complete: z.boolean(),
  nextPhase: z.nullable(phaseSchema),
  rationale: z.string().check(z.minLength(1)),
  inputs: guardInputsSchema,
});
export type Decision = Readonly<z.infer<typeof decisionSchema>>;

/**
 * The model's claims and the evidence for them, each from 0 to 1: how well the gathered text supports the answer
 * (`grounding`), whether that text suffices, how well the answer supports the claim that the task is done, and how
 * satisfied the user sounds. Null without text to compare with.
 */
const evidenceSchema = z.object({
  modelConfidence: z.number(),
  grounding: z.nullable(z.number()),
  modelSufficiency: z.number(),
  sufficiency: z.nullable(z.number()),
  claimsCompletion: z.boolean(),
  claim: z.nullable(z.number()),
  satisfaction: z.number(),
});

/** What loop detection compares of an answer, as hashes: its content words, and those of them that are numbers, names or a negation. */
export const answerSketchSchema = z.object({
  terms: z.readonly(z.array(z.int())),
  facts: z.readonly(z.array(z.int())),
});
export type AnswerSketch = Readonly<z.infer<typeof answerSketchSchema>>;

/**
 * What Yield's rules read, computed once per cycle. `change` is null in the first cycle. `toCompare` is the previous
 * answer until the two are compared by embeddings, `toGrade` is true until the user's grader has graded the answer, and
 * `gradingProblem` says why it could not. `proposal` is the next phase that the policy or the model proposes;
 * it may be invalid.
 */
export const assessmentSchema = z.object({
  answer: z.string(),
  toCompare: z.nullable(z.string()),
  toGrade: z.boolean(),
  gradingProblem: z.nullable(z.string()),
  confidence: z.number(),
  change: z.nullable(z.number()),
  changeBy: z.enum(['words', 'embeddings']),
  taskComplete: z.boolean(),
  informationSufficiency: z.number(),
  evidence: evidenceSchema,
  fingerprint: z.string(),
  sketch: answerSketchSchema,
  repeats: z.int(),
  proposal: z.string(),
  proposedBy: z.string(),
  rationale: z.string(),
});
export type Assessment = Readonly<z.infer<typeof assessmentSchema>>;

/** Why a run left its phases before Yield completed it. */
const interruptionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['cancelled', 'interrupted']), reason: z.string() }),
  z.object({ kind: z.enum(['finished_by_user', 'deadline', 'budget', 'phase_failed', 'model_unavailable']) }),
]);
export type Interruption = Readonly<z.infer<typeof interruptionSchema>>;
