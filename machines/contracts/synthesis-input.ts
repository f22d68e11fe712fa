import { z } from 'zod';
import { usageSchema } from './budget.ts';
import { decisionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { interruptionSchema } from './interruption.ts';
import { messageSchema } from './message.ts';
import { thresholdsSchema } from './thresholds.ts';
import { unitSchema } from './unit.ts';

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
