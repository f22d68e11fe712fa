import { z } from 'zod';
import { decisionSchema, interruptionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { thresholdsSchema, unitSchema } from './limits.ts';
import { messageSchema, sourceSchema } from './message.ts';
import { usageSchema } from './usage.ts';

/** Whether there is anything to see in a text: more than spaces, controls and what has no width. */
export const says = (text: string): boolean => /[^\s\p{Cc}\p{Cf}]/u.test(text);

/** What the model says in synthesis: the text and what it used. The flags are not its to set [E5]. */
export const synthesisReplySchema = z.object({
  answerText: z.string().trim().min(1).refine(says, 'there is nothing to see in it'),
  confidence: unitSchema,
  usedMessageIds: z.array(z.string()),
  notes: z.string(),
});
export type SynthesisReply = Readonly<z.infer<typeof synthesisReplySchema>>;

/** What kept a model from writing the answer: its prompt, its call, its reply, or anything else [E4]. */
export const FALLBACKS = ['prompt', 'model', 'validation', 'other'] as const;
export type Fallback = (typeof FALLBACKS)[number];

/**
 * How the writing of the answer went: a model wrote it, it could not, or none was asked, with why where that wants to be said. `usage`
 * is what its calls used.
 */
export const synthesisOutcomeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('written'), reply: synthesisReplySchema, usage: usageSchema }),
  z.object({ type: z.literal('failed'), fallback: z.enum(FALLBACKS), error: z.string(), usage: usageSchema }),
  z.object({ type: z.literal('composed'), why: z.string(), usage: usageSchema }),
]);
export type SynthesisOutcome = Readonly<z.infer<typeof synthesisOutcomeSchema>>;

/** Why an answer is degraded, the weightiest first [E5]. */
const degradationSchema = z.enum([
  'cancelled',
  'interrupted',
  'model_unavailable',
  'incomplete_state',
  'deadline_passed',
  'budget_exhausted',
  'ttl_exhausted',
  'zero_passes',
  'loop_broken',
  'not_converged',
  'source_failed',
  'context_over_limit',
  'synthesis_failed',
]);
export type Degradation = z.infer<typeof degradationSchema>;

/** A source that the answer rests on, by file and line. */
const citationSchema = sourceSchema.extend({ messageId: z.string(), quote: z.string() });
export type Citation = Readonly<z.infer<typeof citationSchema>>;

const nonNegativeInt = z.int().min(0);
const counted = z.object({ limit: nonNegativeInt.nullable(), used: nonNegativeInt, left: nonNegativeInt.nullable() });

/**
 * The bounds of a run, and what was used of them, counted from real usage; a limit that is null is not known. Tokens and calls are those
 * of the phases, the reserve those of synthesis; ttl is counted in cycles; time ends with the last that is known of the run.
 */
const budgetSchema = z.object({
  tokens: counted,
  modelCalls: counted,
  totalMs: z.object({ limit: z.number().min(0).nullable(), used: z.number().min(0).nullable() }),
  ttl: counted,
  synthesisReserveTokens: z.object({ limit: nonNegativeInt.nullable(), used: nonNegativeInt }),
});
export type Budget = Readonly<z.infer<typeof budgetSchema>>;

/**
 * The end of every run [E2]: the text is never empty. `metadata` holds what the engine computed; no model writes there.
 */
export const finalAnswerSchema = z.object({
  answerText: z.string().min(1),
  confidence: unitSchema,
  usedStepIds: z.array(z.string()).readonly(),
  notes: z.string(),
  ttlExhausted: z.boolean(),
  status: z.enum(['completed', 'degraded', 'cancelled']),
  sources: z.array(citationSchema).readonly(),
  metadata: z.object({
    degraded: z.boolean(),
    reason: degradationSchema.nullable(),
    explanation: z.string(),
    missingFields: z.array(z.string()).readonly(),
    /** Who wrote the text; what kept a model from it, and the error. */
    synthesis: z.object({
      writtenBy: z.enum(['model', 'engine']),
      fallback: z.enum(FALLBACKS).nullable(),
      error: z.string().nullable(),
    }),
    decision: decisionSchema.nullable(),
    cycles: z.int().min(0),
    usage: usageSchema,
    budget: budgetSchema,
    /** What the model calls cost; null where a price is not known. */
    cost: z.object({ amount: z.number().min(0), currency: z.string() }).nullable(),
    failures: z.array(phaseFailureSchema).readonly(),
  }),
});
export type FinalAnswer = Readonly<z.infer<typeof finalAnswerSchema>>;

const text = z.string().describe('a text');
const filled = z
  .string()
  .refine((given) => given.trim() !== '')
  .describe('a text that is not empty');
const texts = z.array(text).readonly();
const count = z.int().min(0).describe('a whole number of at least 0');
const share = unitSchema.describe('a number from 0 to 1');
const flag = z.boolean().describe('true or false');
const limit = count.nullable().default(null).describe('a whole number of at least 0, or null');
const ms = z.number().min(0).nullable().default(null).describe('a number of at least 0, or null');

/** Years beyond 9999 have a sign and six digits. */
const FAR_YEARS = /^[+-]\d{6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/u;

const stepSchema = z.object({ stepId: filled, phase: text, content: text });

const draftSchema = z.object({ text, confidence: share, usedMessageIds: texts });

/**
 * How the run went, beyond the contract: what this house cites from and counts by. Whatever is left out was not known or not there.
 * A limit that is null is not known.
 */
const runViewSchema = z.object({
  /** What Yield answered last; null where no cycle came to an answer; left out where there is no Yield. */
  answer: z.string().nullable().optional().describe('a text, or null'),
  /** The best text that the run came to; left out, it is the best step. */
  draft: draftSchema.nullable().default(null).describe('a text, a confidence and the ids of its messages'),
  /** The context to cite from. */
  messages: z.array(messageSchema).readonly().default([]).describe('a list of messages'),
  /** The phases that a whole run goes through. */
  phases: texts.default([]).describe('a list of texts'),
  mode: z.enum(['automatic', 'manual']).default('automatic').describe('"automatic" or "manual"'),
  interruption: interruptionSchema.nullable().default(null).describe('why the run was left, or null'),
  decision: decisionSchema.nullable().default(null).describe('a decision, or null'),
  limits: z
    .object({ maxCycles: limit, maxModelCalls: limit, maxTokens: limit, synthesisReserveTokens: limit, totalMs: ms })
    .prefault({})
    .describe('an object with limits'),
  /** Whether there was anything to search, and how far an answer must stand in it [Y1]. */
  hasDocuments: flag.default(false),
  thresholds: z
    .object({
      grounding: thresholdsSchema.shape.grounding.describe('a number from 0 to 1'),
      ungroundedConfidence: thresholdsSchema.shape.ungroundedConfidence.describe('a number from 0 to 1'),
    })
    .prefault({})
    .describe('an object with thresholds'),
  /** What the run used before its synthesis. */
  usage: usageSchema
    .default({ modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false, cost: 0 })
    .describe('the tokens and calls that were used'),
  currency: filled.nullable().default(null).describe('a currency, or null'),
  /** From the start to the last that is known of the run. */
  elapsedMs: ms,
  /** How far the context is over its limit [U10]. */
  excess: z
    .object({ tokens: count.default(0), messages: count.default(0) })
    .prefault({})
    .describe('tokens and messages over the limit'),
  /** Why the documents could not be searched. */
  sourceFailure: text.nullable().default(null).describe('a text, or null'),
  /** Why the session could not be recalled or kept. */
  sessionProblem: text.nullable().default(null).describe('a text, or null'),
});

/**
 * What the final answer is made from [E1]: the one view of a run that synthesis has. The names are the contract's, in this house's
 * spelling: passes are cycles, TTL is counted in cycles, refinements are corrected attempts. The three that may be left out are then
 * null; `run` is what this house knows beside.
 */
export const synthesisInputSchema = z.object({
  request: filled,
  executionResults: z.array(stepSchema).readonly().describe('a list of steps'),
  planState: z
    .object({ goal: text.nullable().describe('a text, or null'), alternatives: texts.describe('a list of texts') })
    .describe('an object with goal and alternatives'),
  convergenceAssessment: z
    .object({ change: z.number().nullable().describe('a number, or null'), confidence: share, rationale: text })
    .describe('an object with change, confidence and rationale'),
  executionPasses: z.array(decisionSchema).readonly().nullable().default(null).describe('a list of decisions'),
  semanticValidation: z
    .object({ failures: z.array(phaseFailureSchema).readonly().describe('a list of failures') })
    .nullable()
    .default(null)
    .describe('an object with failures'),
  taskProfile: z.object({ prompt: text }).nullable().default(null).describe('an object with a prompt'),
  correlationId: filled,
  executionStartTimestamp: z.iso
    .datetime({ offset: true, local: true })
    .or(z.string().regex(FAR_YEARS))
    .describe('an ISO 8601 time'),
  convergenceStatus: flag,
  totalPasses: count,
  totalRefinements: count,
  ttlRemaining: count,
  run: runViewSchema.prefault({}).describe('an object that says how the run went'),
});
export type SynthesisInput = Readonly<z.infer<typeof synthesisInputSchema>>;
