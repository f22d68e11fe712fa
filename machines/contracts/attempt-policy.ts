import { z } from 'zod';
import { limitsSchema, MAX_TIMER_MS } from './budget.ts';
import { priceSchema } from './price.ts';

/**
 * The bounds and rules of one execution, as data: it stands in the machine's context and in the journal [A3, A4]. Times in
 * milliseconds. What a chain's limits name too means the same and has the same default.
 */
export const attemptPolicySchema = limitsSchema
  .pick({
    maxCorrections: true,
    maxTransportRetries: true,
    backoffBaseMs: true,
    backoffMaxMs: true,
    firstChunkMs: true,
    chunkMs: true,
    maxReplyChars: true,
  })
  .extend({
    /** All model calls together, whatever the budgets above have left. */
    maxCalls: z.int().min(1).default(100),
    /** Tokens of all calls together: where the last prompt would not fit in what is left, there is no further call. Null bounds nothing. */
    maxTokens: z.int().min(1).nullable().default(null),
    /** The whole execution, its waits and retries included. */
    totalMs: limitsSchema.shape.totalMs,
    /** The share of a wait before a transport retry that is drawn: 0 waits all of it, 1 anything from nothing to all. */
    backoffJitter: z.number().min(0).max(1).default(0),
    /** Characters of the last reply and its errors that the model is shown; at 0 it is told nothing. */
    maxFeedbackChars: z.int().min(0).default(8_000),
    /** Whether a correction that failed exactly as the reply before it is the last. */
    stopOnRepeatedError: z.boolean().default(false),
    /** How many models stand behind the first; each takes over where the one before it has no retry left. */
    maxFallbacks: z.int().min(0).default(0),
    /** Failed attempts after which the next model takes over, whatever retries are left. */
    fallbackAfter: z.int().min(1).max(MAX_TIMER_MS).default(MAX_TIMER_MS),
    /** What each model costs, in the order of the models; null where that is not known. */
    prices: z.array(priceSchema.nullable()).readonly().default([]),
  });
export type AttemptPolicy = Readonly<z.infer<typeof attemptPolicySchema>>;

/** The policy of one who says nothing. */
export const DEFAULT_POLICY: AttemptPolicy = attemptPolicySchema.parse({});
