import { z } from 'zod';
import { tokenUsageSchema, usageSchema } from './budget.ts';
import { type Failure, failureSchema } from './failure.ts';
import { type Task, taskSchema } from './phase.ts';

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
const attemptRecordSchema = z.object({
  attempt: z.int().min(1),
  text: z.string(),
  failure: failureSchema.nullable(),
  usage: tokenUsageSchema,
  startedAtMs: z.number().nullable(),
  durationMs: z.number().min(0),
});
export type AttemptRecord = Readonly<z.infer<typeof attemptRecordSchema>>;

/** All attempts at one value: immutable and serialisable [A5]. Usage adds up over failed attempts too [A11]. */
export const attemptExecutionSchema = z.object({
  id: z.string(),
  task: taskSchema,
  attempts: z.array(attemptRecordSchema).readonly(),
  corrections: z.int().min(0),
  transportRetries: z.int().min(0),
  usage: usageSchema,
});
export type AttemptExecution = Readonly<z.infer<typeof attemptExecutionSchema>>;

/** The bounds of one execution, each on its own [A4]. Times in milliseconds. */
export interface AttemptPolicy {
  readonly maxCorrections: number;
  readonly maxTransportRetries: number;
  /** All model calls together: what is left of the run's budget. */
  readonly maxCalls: number;
  readonly firstChunkMs: number;
  readonly chunkMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  readonly maxReplyChars: number;
}

/** What the attempt machine is started with. `input` is JSON and fits the task's prompt. */
export interface AttemptInput {
  readonly id: string;
  readonly task: Task;
  readonly input: unknown;
  readonly policy: AttemptPolicy;
}

/** How the attempt machine ends: with a validated value, or with the last failure [promise 4]. */
export type AttemptOutcome =
  | { readonly ok: true; readonly value: unknown; readonly execution: AttemptExecution }
  | { readonly ok: false; readonly failure: Failure; readonly execution: AttemptExecution };
