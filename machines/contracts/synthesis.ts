import { z } from 'zod';
import { usageSchema } from './budget.ts';
import { decisionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { type messageSchema, sourceSchema } from './message.ts';
import { unitSchema } from './unit.ts';

/**
 * What the final answer is made from [E1]. The names are the contract's, in this house's spelling: passes are cycles,
 * TTL is counted in cycles, refinements are corrected attempts.
 */
export const synthesisInputSchema = z.object({
  request: z.string().min(1),
  executionResults: z.array(z.object({ stepId: z.string(), phase: z.string(), content: z.string() })).readonly(),
  planState: z.object({ goal: z.string().nullable(), alternatives: z.array(z.string()).readonly() }),
  convergenceAssessment: z.object({ change: z.number().nullable(), confidence: z.number(), rationale: z.string() }),
  executionPasses: z.array(decisionSchema).readonly(),
  semanticValidation: z.object({ failures: z.array(phaseFailureSchema).readonly() }),
  taskProfile: z.object({ prompt: z.string() }),
  correlationId: z.string().min(1),
  executionStartTimestamp: z.iso.datetime(),
  convergenceStatus: z.boolean(),
  totalPasses: z.int().min(0),
  totalRefinements: z.int().min(0),
  ttlRemaining: z.int().min(0),
  /** The answer as it stands, and the context to cite from. */
  draft: z.string(),
  messages: z.custom<readonly z.infer<typeof messageSchema>[]>((value) => Array.isArray(value), 'an array of messages'),
});
export type SynthesisInput = Readonly<z.infer<typeof synthesisInputSchema>>;

/** What the model says in synthesis: the text and what it used. The flags are not its to set [E5]. */
export const synthesisReplySchema = z.object({
  answerText: z.string().trim().min(1),
  confidence: unitSchema,
  usedMessageIds: z.array(z.string()),
  notes: z.string(),
});
export type SynthesisReply = Readonly<z.infer<typeof synthesisReplySchema>>;

/** Why an answer is degraded, the weightiest first [E5]. */
const degradationSchema = z.enum([
  'cancelled',
  'interrupted',
  'incomplete_state',
  'model_unavailable',
  'deadline_passed',
  'budget_exhausted',
  'ttl_exhausted',
  'zero_passes',
  'not_converged',
  'loop_broken',
  'context_over_limit',
  'synthesis_failed',
]);
export type Degradation = z.infer<typeof degradationSchema>;

/** A source that the answer rests on, by file and line. */
const citationSchema = sourceSchema.extend({ messageId: z.string(), quote: z.string() });
export type Citation = Readonly<z.infer<typeof citationSchema>>;

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
    writtenBy: z.enum(['model', 'engine']),
    decision: decisionSchema.nullable(),
    cycles: z.int().min(0),
    usage: usageSchema,
    failures: z.array(phaseFailureSchema).readonly(),
  }),
});
export type FinalAnswer = Readonly<z.infer<typeof finalAnswerSchema>>;
