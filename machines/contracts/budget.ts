import { z } from 'zod';

/** Tokens of one model call. `estimated`: the provider gave no usage, so characters / 4 was counted. */
export const tokenUsageSchema = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  estimated: z.boolean(),
});
export type TokenUsage = Readonly<z.infer<typeof tokenUsageSchema>>;

/**
 * What a run has used so far; failed attempts count [A11]. `cost` is in the currency of the price table; null where the price of a
 * model that was called is not known.
 */
export const usageSchema = tokenUsageSchema.extend({ modelCalls: z.int().min(0), cost: z.number().min(0).nullable() });
export type Usage = Readonly<z.infer<typeof usageSchema>>;

/** The longest that a timer of the platform can wait; asked for more, it would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

const milliseconds = z.number().positive().max(MAX_TIMER_MS);

/** Every bound of a run, each on its own [promise 2]. */
export const limitsSchema = z.strictObject({
  /** Cycles before the run must answer [Y2]. */
  maxCycles: z.int().min(1).default(5),
  /** Model calls of the phases; the reserve comes on top. */
  maxModelCalls: z.int().min(1).default(100),
  /** Input and output tokens of the phases; the reserve comes on top. */
  maxTokens: z.int().min(1).default(1_000_000),
  /** Kept back for the final answer [E9]. At 0 the answer is composed without a model. */
  synthesisReserveTokens: z.int().min(0).default(32_000),
  /** The whole run, synthesis included. */
  totalMs: milliseconds.default(600_000),
  /** One phase, its retries included [C8]; Understanding's measuring and summaries, and Yield's comparing, have as long each. */
  phaseMs: milliseconds.default(120_000),
  /** Writing the final answer; then it is composed without a model. */
  synthesisMs: milliseconds.default(60_000),
  /** From the call to the first chunk of a reply. */
  firstChunkMs: milliseconds.default(60_000),
  /** Between two chunks of a reply; noticed at most an eighth later, never early. */
  chunkMs: milliseconds.default(30_000),
  /** One run of a capability. */
  capabilityMs: milliseconds.default(30_000),
  /** Waiting for the user's consent; then everything is kept [U8]. */
  consentMs: milliseconds.default(120_000),
  /** Further calls after a reply that does not validate [A4]. */
  maxCorrections: z.int().min(0).default(2),
  /** Further calls after a transport failure [A4]. */
  maxTransportRetries: z.int().min(0).default(3),
  /** The first wait before a transport retry, doubled each time up to the second; a server's Retry-After comes before both. */
  backoffBaseMs: z.number().min(0).max(MAX_TIMER_MS).default(500),
  backoffMaxMs: z.number().min(0).max(MAX_TIMER_MS).default(30_000),
  /** How often one phase may be tried again within a cycle [Y9]. */
  maxPhaseRetries: z.int().min(0).default(1),
  /** Capability runs in one Action [R3]. */
  maxContinuations: z.int().min(1).default(5),
  /** Characters of one capability's result; a longer one is a failed run. */
  maxResultChars: z.int().min(1).default(100_000),
  /** Turns of the session that a request is given as its context. */
  sessionTurns: z.int().min(0).default(10),
  /** Recalling a session, and storing a turn of it; then the run goes on without. */
  sessionMs: milliseconds.default(5_000),
  /** Messages in the context; beyond it the least relevant give way. */
  maxMessages: z.int().min(1).default(200),
  /** Messages that the model summarises in one evaluation of the context; the rest, or all at 0, get extracts [U5]. */
  maxSummaries: z.int().min(0).default(20),
  /** Characters of one reply; more is cut off and counts as a failure. */
  maxReplyChars: z.int().min(1).default(2_000_000),
});
export type Limits = Readonly<z.infer<typeof limitsSchema>>;
