import * as z from 'zod/mini';
import { type Failure, failureSchema } from './failure.ts';
import { limitsSchema, MAX_TIMER_MS } from './limits.ts';
import type { ModelStatus } from './model-status.ts';
import type { Phase } from './phase.ts';
import { type Repair, repairsSchema } from './repair.ts';
import { type Price, priceSchema, type TokenUsage, tokenUsageSchema, type Usage, usageSchema } from './usage.ts';

/**
 * Limits and rules of one execution, as data, kept in the machine's context and in the journal. Times are in
 * milliseconds. A field that is also one of the chain's limits has the same meaning and default.
 */
export const attemptPolicySchema = z.extend(
  z.pick(limitsSchema, {
    maxCorrections: true,
    maxTransportRetries: true,
    backoffBaseMs: true,
    backoffMaxMs: true,
    firstChunkMs: true,
    chunkMs: true,
    maxReplyChars: true,
  }),
  {
    /** Model calls in total, whatever the budgets above still allow. */
    maxCalls: z._default(z.int().check(z.gte(1)), 100),
    /** Tokens of all calls; there is no further call if the last prompt would not fit in what is left. Null: no limit. */
    maxTokens: z._default(z.nullable(z.int().check(z.gte(1))), null),
    /** Cost of all calls, in the currency of the prices; a call starts only if its maximum cost fits into what is left. Null: no limit. */
    maxCost: z._default(z.nullable(z.number().check(z.gte(0))), null),
    /** The most tokens of a reply of each model, in order. */
    maxOutputTokens: z._default(z.readonly(z.array(z.int().check(z.gte(1)))), []),
    /** The average number of prompt tokens in the run so far: a prompt is assumed to have at least as many. */
    promptTokens: z._default(z.int().check(z.gte(0)), 0),
    /** The entire execution, waits and retries included. */
    totalMs: limitsSchema.shape.totalMs,
    /** Time that the invoking machine gives the execution: no longer wait is started. Null: as long as `totalMs`. */
    parentMs: z._default(z.nullable(z.number().check(z.positive())), null),
    /** The first wait before a correction. It doubles each time up to `backoffMaxMs`. */
    correctionBackoffMs: z._default(z.number().check(z.gte(0), z.lte(MAX_TIMER_MS)), 0),
    /** The share of a backoff that is random: 0 waits the full time, 1 anything from 0 to the full time. */
    backoffJitter: z._default(z.number().check(z.gte(0), z.lte(1)), 0),
    /** Characters of the previous reply and its errors to show to the model; 0 shows nothing. */
    maxFeedbackChars: z._default(z.int().check(z.gte(0)), 8_000),
    /** Stop if a correction fails in exactly the same way as the reply before it. */
    stopOnRepeatedError: z._default(z.boolean(), false),
    /** Number of fallback models; each takes over when the model before it has no retry left. */
    maxFallbacks: z._default(z.int().check(z.gte(0)), 0),
    /** Failed attempts after which the next model takes over, even if retries are left. */
    fallbackAfter: z._default(z.int().check(z.gte(1), z.lte(MAX_TIMER_MS)), MAX_TIMER_MS),
    /** Calls in a row that may hang before the model is not called any more. */
    maxHungCalls: z._default(z.int().check(z.gte(1), z.lte(MAX_TIMER_MS)), MAX_TIMER_MS),
    /** Whether to try the other reply forms if a reply contains no JSON, and to accept prose if none works. */
    triesReplyForms: z._default(z.boolean(), false),
    /** Whether a phase's schema has only its own fields. If not, it has those of all phases, so that the calls of a cycle share a cache. */
    ownSchema: z._default(z.boolean(), false),
    /** Prices of the models, in order; null if unknown. */
    prices: z._default(z.readonly(z.array(z.nullable(priceSchema))), []),
  },
);
export type AttemptPolicy = Readonly<z.infer<typeof attemptPolicySchema>>;

/** The numbers that a retry policy may set. */
export const policyNumbersSchema = z.pick(attemptPolicySchema, {
  maxCorrections: true,
  maxTransportRetries: true,
  backoffBaseMs: true,
  backoffMaxMs: true,
  correctionBackoffMs: true,
  backoffJitter: true,
  maxFeedbackChars: true,
  stopOnRepeatedError: true,
  fallbackAfter: true,
});
export type PolicyNumbers = Readonly<z.infer<typeof policyNumbersSchema>>;

/** Any of these numbers. */
export const somePolicyNumbersSchema = z.custom<Readonly<Record<string, number | boolean>>>(
  (given) => z.strictObject(z.partial(policyNumbersSchema).shape).safeParse(given).success,
  'expected numbers of a retry policy',
);

export const DEFAULT_POLICY: AttemptPolicy = attemptPolicySchema.parse({});

/**
 * A fully read reply: its text and the JSON value found in it, or why there is none. `prose`: there was
 * no JSON, and the text was put into the main text field of the value. `ignoresSchema`: the schema was a parameter of the request, and
 * the reply has no JSON with its members and types. `repaired`: how the value was found, if the schema rejected the reply as it was.
 */
const replySchema = z.object({
  text: z.string(),
  prose: z.boolean(),
  value: z.unknown(),
  failure: z.nullable(failureSchema),
  usage: tokenUsageSchema,
  ignoresSchema: z.exactOptional(z.boolean()),
  repaired: repairsSchema,
});
export type Reply = Readonly<z.infer<typeof replySchema>>;

/** What was wrong with the previous reply, for the next prompt. Both texts are bounded. */
const feedbackSchema = z.object({ previousReply: z.string(), problem: z.string() });
export type Feedback = Readonly<z.infer<typeof feedbackSchema>>;

/**
 * One finished attempt. `startedAtMs` is in milliseconds since the epoch by the run's clock, null if the call never
 * responded. An attempt that timed out ends when its timer fired.
 */
export const attemptRecordSchema = z.object({
  attempt: z.int().check(z.gte(1)),
  /** Index of the model: 0 is the first, 1 its first fallback. */
  model: z.int().check(z.gte(0)),
  text: z.string(),
  failure: z.nullable(failureSchema),
  usage: tokenUsageSchema,
  startedAtMs: z.nullable(z.number()),
  durationMs: z.number().check(z.gte(0)),
  repaired: repairsSchema,
});
export type AttemptRecord = Readonly<z.infer<typeof attemptRecordSchema>>;

/** The value, transformed by the schema, or why it is invalid. `repaired`: how it was found in the value that was given. */
export type Validation =
  | { readonly ok: true; readonly value: unknown; readonly repaired?: readonly Repair[] }
  | { readonly ok: false; readonly failure: Failure };

/** All attempts at one value: immutable and serializable. Usage includes failed attempts. */
export const attemptExecutionSchema = z.object({
  id: z.string(),
  task: z.string(),
  attempts: z.readonly(z.array(attemptRecordSchema)),
  corrections: z.int().check(z.gte(0)),
  transportRetries: z.int().check(z.gte(0)),
  /** How often the next model took over: the index of the current model. */
  fallbacks: z.int().check(z.gte(0)),
  usage: usageSchema,
});
export type AttemptExecution = Readonly<z.infer<typeof attemptExecutionSchema>>;

/**
 * The input of the attempt machine. `task` names the kind of reply; `input` is the JSON from which its prompt is
 * rendered.
 */
export interface AttemptInput {
  readonly id: string;
  readonly task: string;
  readonly input: unknown;
  /** Instructions for the prompt, in addition to its own text; by default none. */
  readonly instructions?: string | null;
  /**
   * The phases that a brief reply is for, beginning with the one that makes the call. For several phases, the value is an object with the
   * reply of each. If absent, the reply has all fields of one task.
   */
  readonly phases?: readonly Phase[];
  readonly policy: AttemptPolicy;
  /** What is known of the models; by default nothing. */
  readonly models?: readonly ModelStatus[];
  /** Whether another machine invokes this one. If so, it receives `usage.reported` and `models.learned`. */
  readonly hasParent?: boolean;
}

/** A model call that has not been charged yet. Its usage is estimated from these values, but only if the call is aborted. */
export interface CallInFlight {
  readonly input: unknown;
  readonly model: number;
  /** Characters of the rendered prompt; null until a part of the reply has arrived. */
  readonly promptChars: number | null;
  /** Whether any part of the reply has arrived. */
  readonly isAlive: boolean;
  /** Characters of the reply received so far. */
  readonly replyChars: number;
  /** The usage that the model reported; null until the reply has ended. */
  readonly usage: TokenUsage | null;
  readonly price: Price | null;
  /** The most tokens of a reply: an estimate cannot be higher. Null: unknown. */
  readonly maxOutputTokens: number | null;
}

/** The usage of calls that an outcome has not charged yet: the finished ones, and the one in flight. */
export interface UsageInFlight {
  readonly finished: Usage;
  readonly call: CallInFlight | null;
}

/** Sent to the parent machine when a call starts, receives its first part, progresses, ends or fails. */
export interface UsageReport extends UsageInFlight {
  readonly type: 'usage.reported';
}

/** Sent to the parent machine when a call has shown something new about a model. */
export interface ModelsReport {
  readonly type: 'models.learned';
  readonly models: readonly ModelStatus[];
}

/**
 * The next call after a failed attempt, as the policy prepared it. The wait is clamped to what a timer supports, 0 to
 * 2^31 - 1 ms.
 */
export const nextCallSchema = z.object({
  waitMs: z
    .custom<number>((ms) => typeof ms === 'number' && !Number.isNaN(ms), 'expected a wait in milliseconds')
    .check(z.overwrite((ms) => Math.min(MAX_TIMER_MS, Math.max(0, ms)))),
  /** Feedback for the model; null keeps the previous feedback. */
  feedback: z.nullable(feedbackSchema),
});
export type NextCall = Readonly<z.infer<typeof nextCallSchema>>;

/** The input of a model call that starts before its phase: the first call of an attempt. */
export interface CallAheadInput {
  readonly attemptId: string;
  readonly task: string;
  readonly attempt: AttemptInput;
}

/**
 * The result of one model call that started early: a validated value, or why there is none. Times are in milliseconds since the epoch by
 * the run's clock. Nothing of it is charged yet.
 */
export interface EarlyReply {
  readonly value: unknown;
  /** Whether the model answered in prose. */
  readonly prose?: boolean;
  readonly repaired?: readonly Repair[];
  readonly failure: Failure | null;
  /** Null if unknown; it is then estimated. */
  readonly usage: TokenUsage | null;
  readonly openedAtMs: number;
  readonly atMs: number;
}

/** The output of the attempt machine: a validated value, or the last failure. `prose`: the model answered in prose. */
export type AttemptOutcome<Value = unknown> =
  | {
      readonly ok: true;
      readonly value: Value;
      readonly execution: AttemptExecution;
      readonly prose: boolean;
      /** The `phases` of the attempt's input. */
      readonly phases?: readonly Phase[];
    }
  | { readonly ok: false; readonly failure: Failure; readonly execution: AttemptExecution };

/**
 * Progress of a model call. Times are in milliseconds since the epoch by the run's clock; `chars` counts the text
 * received, `promptChars` those of the prompt; null if it is unknown.
 */
const callProgressSchema = z.object({
  openedAtMs: z.number(),
  atMs: z.number(),
  chars: z.int().check(z.gte(0)),
  promptChars: z._default(z.nullable(z.int().check(z.gte(0))), null),
});
export type CallProgress = Readonly<z.infer<typeof callProgressSchema>>;

/**
 * Events that the reader of a reply sends to the attempt machine. `reply.lost`: its process ended before the reply did.
 */
export const replyEventSchema = z.discriminatedUnion('type', [
  z.extend(callProgressSchema, { type: z.literal('reply.started') }),
  z.extend(callProgressSchema, { type: z.literal('reply.progressed') }),
  z.extend(callProgressSchema, { type: z.literal('reply.ended'), reply: z.readonly(replySchema) }),
  z.object({ type: z.literal('reply.lost') }),
]);
export type ReplyEvent = Readonly<z.infer<typeof replyEventSchema>>;

/**
 * The events that the attempt machine receives. The end of a reply comes with its validation, unless the schema validates
 * asynchronously. The validation is not journaled, because it follows from the reply.
 */
export type AttemptEvent = ReplyEvent & { readonly validation?: Validation };
