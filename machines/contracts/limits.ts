import * as z from 'zod';
import type { Phase } from './phase.ts';

/** A score, share or strength: 0 (none) to 1 (all). */
export const unitSchema = z.number().min(0).max(1);

/** The longest delay that a timer supports, in milliseconds. A timer with a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The deadline of a phase that has none of its own. */
const DEFAULT_PHASE_MS = 120_000;

const milliseconds = z.number().positive().max(MAX_TIMER_MS);

const deadline = milliseconds.default(DEFAULT_PHASE_MS);

/** A deadline per phase. */
const phaseDeadlinesSchema = z.strictObject({
  action: deadline,
  experience: deadline,
  intention: deadline,
  observation: deadline,
  understanding: deadline,
  yield: deadline,
} satisfies Record<Phase, z.ZodType>);

/** The limits of a run, each independent of the others. */
export const limitsSchema = z.strictObject({
  /** Cycles before the run must answer. */
  maxCycles: z.int().min(1).default(5),
  /** Model calls of the phases. Calls of synthesis do not count. */
  maxModelCalls: z.int().min(1).default(100),
  /** Input and output tokens of the phases; synthesis has its own reserve. */
  maxTokens: z.int().min(1).default(1_000_000),
  /** Reserved for the final answer. At 0 it is composed without a model. */
  synthesisReserveTokens: z.int().min(0).default(32_000),
  /** The entire run, synthesis included. */
  totalMs: milliseconds.default(600_000),
  /**
   * One phase, retries included: a number for all phases, or an object with a number per phase; a phase that it omits has
   * 120,000. The same limit applies separately to Understanding's measurement and summaries, and to Yield's comparison and grader.
   */
  phaseMs: z
    .union([milliseconds, phaseDeadlinesSchema], 'expected milliseconds, or an object with milliseconds per phase')
    .default(DEFAULT_PHASE_MS),
  /** Writing the final answer. After that, the answer is composed without a model. */
  synthesisMs: milliseconds.default(60_000),
  /** From the call to the first chunk of a reply. */
  firstChunkMs: milliseconds.default(40_000),
  /** Between two chunks of a reply. The timeout fires up to an eighth later, never early. */
  chunkMs: milliseconds.default(30_000),
  /** One run of a capability. */
  capabilityMs: milliseconds.default(30_000),
  /** Waiting for the user's consent. After that, everything is kept. */
  consentMs: milliseconds.default(120_000),
  /** Further calls after a reply that does not validate. */
  maxCorrections: z.int().min(0).default(2),
  /** Further calls after a transport failure. */
  maxTransportRetries: z.int().min(0).default(3),
  /** Calls in a row that may hang before the run stops using the model. */
  maxHungCalls: z.int().min(1).max(MAX_TIMER_MS).default(2),
  /** The first wait before a transport retry. It doubles each time up to `backoffMaxMs`; a server's Retry-After takes precedence. */
  backoffBaseMs: z.number().min(0).max(MAX_TIMER_MS).default(500),
  backoffMaxMs: z.number().min(0).max(MAX_TIMER_MS).default(30_000),
  /** How often one phase may be repeated within a cycle. */
  maxPhaseRetries: z.int().min(0).default(1),
  /** Capability runs in one request, however many cycles it takes. */
  maxContinuations: z.int().min(1).default(5),
  /** Calls of one reply that run at the same time: 1 to 4. */
  maxParallelCalls: z.int().min(1).max(4).default(4),
  /** Runs of a capability with the same arguments, if the model decides what follows a run. */
  maxSameCalls: z.int().min(1).default(3),
  /** Characters of one capability's result; a longer one is a failed run. */
  maxResultChars: z.int().min(1).default(100_000),
  /** Turns of the session to add to the context in full. */
  sessionTurns: z.int().min(0).default(10),
  /** Messages that a session keeps of the turns before: the user's, those worth keeping, and insights. */
  sessionMessages: z.int().min(0).default(100),
  /** Recalling a session, and storing a turn. After that, the run continues without it. */
  sessionMs: milliseconds.default(5_000),
  /** Messages in the context; above it, the least relevant are evicted. */
  maxMessages: z.int().min(1).default(200),
  /** Messages that the model summarizes per evaluation of the context; all others get extracts. */
  maxSummaries: z.int().min(0).default(20),
  /** Characters of one reply; a longer one is cut off and fails. */
  maxReplyChars: z.int().min(1).default(2_000_000),
});
export type Limits = Readonly<z.infer<typeof limitsSchema>>;

/** The numbers that policies compare with. */
export const thresholdsSchema = z
  .strictObject({
    /** Above it, the answer is confident enough. */
    confidence: unitSchema.default(0.9),
    /** If the evidence supports less of an answer than `grounding`, its confidence is capped at `ungroundedConfidence`. */
    grounding: unitSchema.default(0.5),
    ungroundedConfidence: unitSchema.default(0.5),
    /** Below it, two successive answers count as the same. */
    change: unitSchema.default(0.1),
    /** Below it, more information is needed. */
    sufficiency: unitSchema.default(0.7),
    /** With more messages than this, Understanding cleans up the context. */
    crowdedMessages: z.int().min(1).default(10),
    /** This many decisions to continue with the same phase and content are a loop. */
    loopRepeats: z.int().min(2).default(2),
    /** Above it, Intention raises a message's priority; below `lowAlignment`, it tags the message. */
    alignment: unitSchema.default(0.7),
    lowAlignment: unitSchema.default(0.3),
    /** Above it, Observation links two messages. */
    link: unitSchema.default(0.7),
    /** Above it, Observation tags a message important and persistent. */
    persist: unitSchema.default(0.65),
    /** Below it, an assistant message is pruned; below `summarize`, it is summarized. */
    prune: unitSchema.default(0.3),
    summarize: unitSchema.default(0.7),
    /** The user is asked whether a longer message of theirs may be summarized. */
    userMessageChars: z.int().min(1).default(1_000),
    userSummaryChars: z.int().min(1).default(200),
    assistantSummaryChars: z.int().min(1).default(100),
    /** Share of the model's context window that the messages may fill. */
    windowShare: unitSchema.default(0.7),
    /** A message's recency halves in this many cycles, and in this many milliseconds (a week). */
    halfLifeCycles: z.number().positive().default(2),
    halfLifeMs: z.number().positive().default(604_800_000),
    /** A search result is pruned if nothing referred to it in this many phases; a cycle has six. */
    recentPhases: z.int().min(1).default(12),
    /**
     * `prune` and `summarize` apply to messages that the model did not rate only if the context fills more than this
     * share of its limit: at 0 always, at 1 never.
     */
    pruneAbove: unitSchema.default(1),
    /** Number of passages to search for, and their minimum relevance. */
    passages: z.int().min(1).default(5),
    passageRelevance: unitSchema.default(0.35),
  })
  .refine(({ prune, summarize }) => prune <= summarize, { path: ['prune'], message: 'expected at most `summarize`' });
export type Thresholds = Readonly<z.infer<typeof thresholdsSchema>>;
