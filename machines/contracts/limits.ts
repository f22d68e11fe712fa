import { z } from 'zod';

/** A score, share or strength: 0 (none) to 1 (all). */
export const unitSchema = z.number().min(0).max(1);

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

/** Every number that a policy compares with, with the defaults of the requirements. */
export const thresholdsSchema = z
  .strictObject({
    /** Above it the answer is confident enough [Y2]. */
    confidence: unitSchema.default(0.9),
    /** With less of an answer than this in what was gathered, it is not grounded, and its confidence counts as at most the second [Y1]. */
    grounding: unitSchema.default(0.5),
    ungroundedConfidence: unitSchema.default(0.5),
    /** Below it two successive answers count as the same [Y2]. */
    change: unitSchema.default(0.1),
    /** Below it more information is needed [Y3]. */
    sufficiency: unitSchema.default(0.7),
    /** More messages than this and the context wants cleaning [Y3]. */
    crowdedMessages: z.int().min(1).default(10),
    /** As often as this with the same target and content, and it is a loop [Y7]. */
    loopRepeats: z.int().min(2).default(2),
    /** Above it Intention raises a message's priority; below `lowAlignment` it tags it [C6]. */
    alignment: unitSchema.default(0.7),
    lowAlignment: unitSchema.default(0.3),
    /** Above it Observation links two messages [C7]. */
    link: unitSchema.default(0.7),
    /** Above it Observation tags a message important and persistent [C7]. */
    persist: unitSchema.default(0.65),
    /** Below it an assistant message is pruned; below `summarise` it is summarised [U5]. */
    prune: unitSchema.default(0.3),
    summarise: unitSchema.default(0.7),
    /** A longer user message asks consent before it is summarised [U4]. */
    userMessageChars: z.int().min(1).default(1_000),
    userSummaryChars: z.int().min(1).default(200),
    assistantSummaryChars: z.int().min(1).default(100),
    /** Share of the model's window that the context may fill [U10]. */
    windowShare: unitSchema.default(0.7),
    /** A message's recency halves in this many cycles [U11]. */
    halfLifeCycles: z.number().positive().default(2),
    /** Passages asked of the documents, and the least relevance that counts [C5]. */
    passages: z.int().min(1).default(5),
    passageRelevance: unitSchema.default(0.35),
  })
  .refine(({ prune, summarise }) => prune <= summarise, { path: ['prune'], message: 'expected at most `summarise`' });
export type Thresholds = Readonly<z.infer<typeof thresholdsSchema>>;
