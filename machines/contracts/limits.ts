import * as z from 'zod/mini';
import type { Phase } from './phase.ts';
import { setSchemaLanguage } from './schema-language.ts';

setSchemaLanguage();

/** A score, share or strength: 0 (none) to 1 (all). */
export const unitSchema = z.number().check(z.gte(0), z.lte(1));

/** The longest delay that a timer supports, in milliseconds. A timer with a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The deadline of a phase that has none of its own. */
const DEFAULT_PHASE_MS = 120_000;

const milliseconds = z.number().check(z.positive(), z.lte(MAX_TIMER_MS));

const deadline = z._default(milliseconds, DEFAULT_PHASE_MS);

/** A deadline per phase. */
const phaseDeadlinesSchema = z.strictObject({
  action: deadline,
  experience: deadline,
  intention: deadline,
  observation: deadline,
  understanding: deadline,
  yield: deadline,
} satisfies Record<Phase, z.ZodMiniType>);

/** The limits of a run, each independent of the others. */
export const limitsSchema = z.strictObject({
  /** Cycles before the run must answer. */
  maxCycles: z._default(z.int().check(z.gte(1)), 5),
  /** Model calls of the phases. Calls of synthesis do not count. */
  maxModelCalls: z._default(z.int().check(z.gte(1)), 100),
  /** Input and output tokens of the phases; synthesis has its own reserve. */
  maxTokens: z._default(z.int().check(z.gte(1)), 1_000_000),
  /**
   * Cost of the run, synthesis included, in the currency of the prices; null: no limit. A model call starts only if its maximum cost fits
   * into what is left.
   */
  maxCost: z._default(z.nullable(z.number().check(z.positive())), null),
  /** Reserved for the final answer. At 0 it is composed without a model. */
  synthesisReserveTokens: z._default(z.int().check(z.gte(0)), 32_000),
  /** The entire run, synthesis included. */
  totalMs: z._default(milliseconds, 600_000),
  /**
   * One phase, retries included: a number for all phases, or an object with a number per phase; a phase that it omits has
   * 120,000. The same limit applies separately to Understanding's measurement and summaries, and to Yield's comparison and grader.
   */
  phaseMs: z._default(
    z.union([milliseconds, phaseDeadlinesSchema], 'expected milliseconds, or an object with milliseconds per phase'),
    DEFAULT_PHASE_MS,
  ),
  /** Writing the final answer. After that, the answer is composed without a model. */
  synthesisMs: z._default(milliseconds, 60_000),
  /** From the call to the first chunk of a reply. */
  firstChunkMs: z._default(milliseconds, 40_000),
  /** Between two chunks of a reply. The timeout fires up to an eighth later, never early. */
  chunkMs: z._default(milliseconds, 30_000),
  /** One run of a capability. */
  capabilityMs: z._default(milliseconds, 30_000),
  /** Waiting for the user's consent. After that, everything is kept. */
  consentMs: z._default(milliseconds, 120_000),
  /** Waiting for the user's approval of a call; null: as long as it takes. After that, the call does not run. */
  approvalMs: z._default(z.nullable(milliseconds), null),
  /** Further calls after a reply that does not validate. */
  maxCorrections: z._default(z.int().check(z.gte(0)), 2),
  /** Further calls after a transport failure. */
  maxTransportRetries: z._default(z.int().check(z.gte(0)), 3),
  /** Calls in a row that may hang before the run stops using the model. */
  maxHungCalls: z._default(z.int().check(z.gte(1), z.lte(MAX_TIMER_MS)), 2),
  /** The first wait before a transport retry. It doubles each time up to `backoffMaxMs`; a server's Retry-After takes precedence. */
  backoffBaseMs: z._default(z.number().check(z.gte(0), z.lte(MAX_TIMER_MS)), 500),
  backoffMaxMs: z._default(z.number().check(z.gte(0), z.lte(MAX_TIMER_MS)), 30_000),
  /** How often one phase may be repeated within a cycle. */
  maxPhaseRetries: z._default(z.int().check(z.gte(0)), 1),
  /** Capability runs in one request, however many cycles it takes. */
  maxContinuations: z._default(z.int().check(z.gte(1)), 5),
  /** Calls of one reply that run at the same time: 1 to 4. */
  maxParallelCalls: z._default(z.int().check(z.gte(1), z.lte(4)), 4),
  /** Steps in which a deciding model may make the same call. */
  maxSameCalls: z._default(z.int().check(z.gte(1)), 3),
  /** Characters of one capability's result; a longer one is a failed run. */
  maxResultChars: z._default(z.int().check(z.gte(1)), 100_000),
  /** Turns of the session to add to the context in full. */
  sessionTurns: z._default(z.int().check(z.gte(0)), 10),
  /** Messages that a session keeps of the turns before, besides the user's: those worth keeping, and insights. */
  sessionMessages: z._default(z.int().check(z.gte(0)), 100),
  /** Recalling a session, and storing a turn. After that, the run continues without it. */
  sessionMs: z._default(milliseconds, 5_000),
  /** Messages in the context that may be removed without consent; above it, the least relevant are evicted. */
  maxMessages: z._default(z.int().check(z.gte(1)), 200),
  /** Messages that the model summarizes per evaluation of the context; all others get extracts. */
  maxSummaries: z._default(z.int().check(z.gte(0)), 20),
  /** Characters of one reply; a longer one is cut off and fails. */
  maxReplyChars: z._default(z.int().check(z.gte(1)), 2_000_000),
});
export type Limits = Readonly<z.infer<typeof limitsSchema>>;

/** The numbers that policies compare with. */
export const thresholdsSchema = z
  .strictObject({
    /** Above it, the answer is confident enough. */
    confidence: z._default(unitSchema, 0.9),
    /** If the evidence supports less of an answer than `grounding`, its confidence is capped at `ungroundedConfidence`. */
    grounding: z._default(unitSchema, 0.5),
    ungroundedConfidence: z._default(unitSchema, 0.5),
    /** Below it, two successive answers count as the same. */
    change: z._default(unitSchema, 0.1),
    /** Below it, more information is needed. */
    sufficiency: z._default(unitSchema, 0.7),
    /** With more messages than this, Understanding cleans up the context. */
    crowdedMessages: z._default(z.int().check(z.gte(1)), 10),
    /** This many decisions to continue with the same phase and content are a loop. */
    loopRepeats: z._default(z.int().check(z.gte(2)), 2),
    /** Above it, Intention raises a message's priority; below `lowAlignment`, it tags the message. */
    alignment: z._default(unitSchema, 0.7),
    lowAlignment: z._default(unitSchema, 0.3),
    /** Above it, Observation links two messages. */
    link: z._default(unitSchema, 0.7),
    /** Above it, Observation tags a message important and persistent. */
    persist: z._default(unitSchema, 0.65),
    /** Below it, an assistant message is pruned; below `summarize`, it is summarized. */
    prune: z._default(unitSchema, 0.3),
    summarize: z._default(unitSchema, 0.7),
    /** The user is asked whether a longer message of theirs may be summarized. */
    userMessageChars: z._default(z.int().check(z.gte(1)), 1_000),
    userSummaryChars: z._default(z.int().check(z.gte(1)), 200),
    assistantSummaryChars: z._default(z.int().check(z.gte(1)), 100),
    /** Share of the model's context window that the messages may fill. */
    windowShare: z._default(unitSchema, 0.7),
    /** A message's recency halves in this many cycles, and in this many milliseconds (a week). */
    halfLifeCycles: z._default(z.number().check(z.positive()), 2),
    halfLifeMs: z._default(z.number().check(z.positive()), 604_800_000),
    /** A search result is pruned if nothing referred to it in this many phases; a cycle has six. */
    recentPhases: z._default(z.int().check(z.gte(1)), 12),
    /**
     * `prune` and `summarize` apply to messages that the model did not rate only if the context fills more than this
     * share of its limit: at 0 always, at 1 never.
     */
    pruneAbove: z._default(unitSchema, 1),
    /** Number of passages to search for, and their minimum relevance. */
    passages: z._default(z.int().check(z.gte(1)), 5),
    passageRelevance: z._default(unitSchema, 0.1),
  })
  .check(
    z.refine(({ prune, summarize }) => prune <= summarize, {
      path: ['prune'],
      message: 'expected at most `summarize`',
    }),
  );
export type Thresholds = Readonly<z.infer<typeof thresholdsSchema>>;
