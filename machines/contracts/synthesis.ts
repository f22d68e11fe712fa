import { z } from 'zod';
import { usageSchema } from './budget.ts';
import { decisionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { sourceSchema } from './message.ts';
import { unitSchema } from './unit.ts';
import { says } from './visible-text.ts';

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

const count = z.int().min(0);
const counted = z.object({ limit: count.nullable(), used: count, left: count.nullable() });

/**
 * The bounds of a run, and what was used of them, counted from real usage; a limit that is null is not known. Tokens and calls are those
 * of the phases, the reserve those of synthesis; ttl is counted in cycles; time ends with the last that is known of the run.
 */
const budgetSchema = z.object({
  tokens: counted,
  modelCalls: counted,
  totalMs: z.object({ limit: z.number().min(0).nullable(), used: z.number().min(0).nullable() }),
  ttl: counted,
  synthesisReserveTokens: z.object({ limit: count.nullable(), used: count }),
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
