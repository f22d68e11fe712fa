import { z } from 'zod';
import { phaseSchema } from './phase.ts';

/** The inputs that a verdict saw: flat, so that every one can be shown beside its guard [Y8]. */
export const verdictInputsSchema = z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]));

/** What a guard's policy says, and the numbers it saw. */
const verdictSchema = z.object({ holds: z.boolean(), inputs: verdictInputsSchema });
export type GuardResult = Readonly<z.infer<typeof verdictSchema>>;

/** The rule that ended a cycle [Y2, Y3]. It is the name of the guard that held in the chart. */
const decisionRuleSchema = z.enum([
  'cycleLimitReached',
  'budgetExhausted',
  'confidenceReached',
  'answerConverged',
  'taskComplete',
  'loopDetected',
  'nextPhaseChosen',
  'nextPhaseInvalid',
  'directedByUser',
]);
export type DecisionRule = z.infer<typeof decisionRuleSchema>;

/** One decision of Yield, with its reason and the numbers it saw [Y8]. `nextPhase` is null when the run is complete. */
export const decisionSchema = z.object({
  cycle: z.int().min(1),
  rule: decisionRuleSchema,
  complete: z.boolean(),
  nextPhase: phaseSchema.nullable(),
  rationale: z.string().min(1),
  inputs: verdictInputsSchema,
});
export type Decision = Readonly<z.infer<typeof decisionSchema>>;

/**
 * What the model said, and what speaks for it, each 0..1 [Y1]: how far the answer stands in what was gathered, how far that is enough,
 * how far the answer bears out that the task is done, and how satisfied the user sounds. Null where there is nothing to hold it against.
 */
const evidenceSchema = z.object({
  modelConfidence: z.number(),
  grounding: z.number().nullable(),
  modelSufficiency: z.number(),
  sufficiency: z.number().nullable(),
  claimsCompletion: z.boolean(),
  claim: z.number().nullable(),
  satisfaction: z.number(),
});

/**
 * What Yield's rules look at, computed once a cycle. `change` is null in the first cycle; `toCompare` is the answer before, where it is
 * yet to be compared by its embedding; `proposal` is what the phase
 * selection or the model wants next, not yet checked to be a phase.
 */
export const assessmentSchema = z.object({
  answer: z.string(),
  toCompare: z.string().nullable(),
  confidence: z.number(),
  change: z.number().nullable(),
  changeBy: z.enum(['words', 'embeddings']),
  taskComplete: z.boolean(),
  informationSufficiency: z.number(),
  evidence: evidenceSchema,
  fingerprint: z.string(),
  repeats: z.int(),
  proposal: z.string(),
  proposedBy: z.string(),
  rationale: z.string(),
});
export type Assessment = Readonly<z.infer<typeof assessmentSchema>>;

/** Why the phases were left other than by a decision of Yield. */
export const interruptionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['cancelled', 'interrupted']), reason: z.string() }),
  z.object({ kind: z.enum(['finished_by_user', 'deadline', 'budget', 'phase_failed', 'model_unavailable']) }),
]);
export type Interruption = Readonly<z.infer<typeof interruptionSchema>>;
