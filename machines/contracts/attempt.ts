import { z } from 'zod';
import { type Failure, failureSchema } from './failure.ts';
import { limitsSchema, MAX_TIMER_MS } from './limits.ts';
import { priceSchema, tokenUsageSchema, type Usage, usageSchema } from './usage.ts';

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

/** What a stream came to: all of its text and the JSON value found in it, or why there is none. Not yet validated [A2]. */
export const replySchema = z.object({
  text: z.string(),
  value: z.unknown(),
  failure: failureSchema.nullable(),
  usage: tokenUsageSchema,
});
export type Reply = Readonly<z.infer<typeof replySchema>>;

/** What went wrong last time, told to the model in the next call [A9]; both texts are bounded. */
export const feedbackSchema = z.object({ previousReply: z.string(), problem: z.string() });
export type Feedback = Readonly<z.infer<typeof feedbackSchema>>;

/**
 * One finished attempt [A11]. `startedAtMs` is milliseconds since the epoch by the run's clock, null for a call that nothing ever
 * came of; an attempt that ran into a time-out ends when its timer fired.
 */
export const attemptRecordSchema = z.object({
  attempt: z.int().min(1),
  /** Which model was called: 0 is the first, 1 its first fallback. */
  model: z.int().min(0),
  text: z.string(),
  failure: failureSchema.nullable(),
  usage: tokenUsageSchema,
  startedAtMs: z.number().nullable(),
  durationMs: z.number().min(0),
});
export type AttemptRecord = Readonly<z.infer<typeof attemptRecordSchema>>;

/** What holding a value against its schema came to: the value, as the schema transforms it, or why it is none. */
export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure };

/** All attempts at one value: immutable and serialisable [A5]. Usage adds up over failed attempts too [A11]. */
export const attemptExecutionSchema = z.object({
  id: z.string(),
  task: z.string(),
  attempts: z.array(attemptRecordSchema).readonly(),
  corrections: z.int().min(0),
  transportRetries: z.int().min(0),
  /** How often the next model has taken over: the index of the model under way. */
  fallbacks: z.int().min(0),
  usage: usageSchema,
});
export type AttemptExecution = Readonly<z.infer<typeof attemptExecutionSchema>>;

/** What the attempt machine is started with. `task` names what is asked for; `input` is JSON, what its prompt is rendered from. */
export interface AttemptInput {
  readonly id: string;
  readonly task: string;
  readonly input: unknown;
  readonly policy: AttemptPolicy;
  /** Whether a machine invokes this one: if so, it is sent `usage.reported` whenever the usage of a call changes. */
  readonly hasParent?: boolean;
}

/** Sent to the parent machine: what all calls have used so far, the call in flight included. */
export interface UsageReport {
  readonly type: 'usage.reported';
  readonly usage: Usage;
}

/** The call to come after a failed attempt, as the policy prepared it. A wait is cut to what a timer can hold, 0 to 2^31 - 1 ms. */
export const nextCallSchema = z.object({
  waitMs: z
    .custom<number>((ms) => typeof ms === 'number' && !Number.isNaN(ms), 'expected a wait in milliseconds')
    .overwrite((ms) => Math.min(MAX_TIMER_MS, Math.max(0, ms))),
  /** What the model is told; null leaves what it was told before. */
  feedback: feedbackSchema.nullable(),
});
export type NextCall = Readonly<z.infer<typeof nextCallSchema>>;

/** How the attempt machine ends: with a validated value, or with the last failure [promise 4]. */
export type AttemptOutcome<Value = unknown> =
  | { readonly ok: true; readonly value: Value; readonly execution: AttemptExecution }
  | { readonly ok: false; readonly failure: Failure; readonly execution: AttemptExecution };

/** Where a call stands. Times are milliseconds since the epoch by the run's clock; `chars` counts the text that came so far. */
const callProgressSchema = z.object({ openedAtMs: z.number(), atMs: z.number(), chars: z.int().min(0) });
export type CallProgress = Readonly<z.infer<typeof callProgressSchema>>;

/** What the reader of a reply tells the attempt machine. `reply.lost`: its process ended before the reply did. */
export const replyEventSchema = z.discriminatedUnion('type', [
  callProgressSchema.extend({ type: z.literal('reply.started') }),
  callProgressSchema.extend({ type: z.literal('reply.progressed') }),
  callProgressSchema.extend({ type: z.literal('reply.ended'), reply: replySchema.readonly() }),
  z.object({ type: z.literal('reply.lost') }),
]);
export type ReplyEvent = Readonly<z.infer<typeof replyEventSchema>>;
