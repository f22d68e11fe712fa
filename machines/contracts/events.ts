import { z } from 'zod';
import { replyEventSchema } from './attempt.ts';
import { capabilityFailureSchema, capabilityResultSchema, stopReasonSchema } from './capability.ts';
import { consentGiverSchema, consentRequestSchema, contextOperationSchema } from './context.ts';
import { decisionSchema } from './decision.ts';
import { failureSchema } from './failure.ts';
import { limitsSchema, thresholdsSchema } from './limits.ts';
import { messageSchema } from './message.ts';
import { phaseSchema } from './phase.ts';
import { contextStatisticsSchema, pruningSchema } from './phase-io.ts';
import { finalAnswerSchema } from './synthesis.ts';
import { tokenUsageSchema } from './usage.ts';

/** Some of these numbers, by their names. */
const numbersOf = <Shape extends object>(shape: Shape) =>
  z.partialRecord(z.enum(Object.keys(shape) as [keyof Shape & string]), z.number());

/**
 * What a user can tell a running chain. `run.cancelled` is the user's own wish; `run.interrupted` is the host's (a signal, a
 * shutdown): both end in a degraded answer at once, and stay told apart. `run.directed` names a phase to go on with; it is a
 * free string on purpose, so that what is no phase is answered by the chart. `run.finished`: stop and answer now.
 * `run.adjusted`: go by other limits and thresholds from here on.
 */
export const chainEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run.cancelled'), reason: z.string().optional() }),
  z.object({ type: z.literal('run.interrupted'), reason: z.string().optional() }),
  z.object({ type: z.literal('run.directed'), phase: z.string(), prompt: z.string().optional() }),
  z.object({ type: z.literal('run.finished') }),
  z.object({
    type: z.literal('run.adjusted'),
    limits: numbersOf(limitsSchema.shape).optional(),
    thresholds: numbersOf(thresholdsSchema.shape).optional(),
  }),
  z.object({
    type: z.literal('consent.given'),
    choice: z.string(),
    items: z.record(z.string(), z.string()).optional(),
    /** Who says so, where it is not the user at this moment: an option given beforehand, say. */
    by: z.enum(['user', 'option', 'nobody']).optional(),
  }),
]);
export type ChainEvent = z.infer<typeof chainEventSchema>;

/** What is known of an error that a port rejected with: as much as a chart goes by. `message` is one line. */
const callErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  code: z.string().optional(),
  status: z.number().optional(),
  retryAfterMs: z.number().optional(),
});
export type CallError = Readonly<z.infer<typeof callErrorSchema>>;

/**
 * What came of a call out of the charts, and what came on the way: `settled` and `broken` end a question, `reply.ended` and
 * `reply.lost` the reading of a model's reply.
 */
export const callEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('settled'), output: z.unknown().optional() }),
  z.object({ type: z.literal('broken'), error: callErrorSchema }),
  ...replyEventSchema.options,
]);
export type CallEvent = Readonly<z.infer<typeof callEventSchema>>;

/** Nothing comes of a call after one of these. */
export const LAST_EVENTS: ReadonlySet<CallEvent['type']> = new Set(['settled', 'broken', 'reply.ended', 'reply.lost']);

/** What the charts emit: the facts of a run. An XState user gets the same with `actor.on('decision', …)`. */
export const emittedEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('phase-start'), phase: phaseSchema, cycle: z.int(), step: z.int() }),
  z.object({
    type: z.literal('phase-end'),
    phase: phaseSchema,
    cycle: z.int(),
    step: z.int(),
    summary: z.string(),
    failure: failureSchema.nullable(),
  }),
  z.object({
    type: z.literal('operations'),
    phase: phaseSchema,
    step: z.int(),
    applied: z.array(contextOperationSchema),
  }),
  z.object({
    type: z.literal('recovery'),
    phase: phaseSchema,
    how: z.enum(['again', 'skip', 'finish']),
    failure: failureSchema,
  }),
  z.object({
    type: z.literal('context-evaluated'),
    step: z.int(),
    statistics: contextStatisticsSchema,
    pruningLog: z.array(pruningSchema),
    problem: z.string().nullable(),
  }),
  z.object({ type: z.literal('consent-asked'), request: consentRequestSchema }),
  z.object({
    type: z.literal('consent-resolved'),
    kept: z.int(),
    summarised: z.int(),
    removed: z.int(),
    by: consentGiverSchema,
  }),
  z.object({
    type: z.literal('direction-asked'),
    cycle: z.int(),
    proposal: z.string(),
    answer: z.string(),
    confidence: z.number(),
  }),
  z.object({ type: z.literal('direction-refused'), got: z.string() }),
  z.object({ type: z.literal('decision'), decision: decisionSchema }),
  z.object({ type: z.literal('answer'), answer: finalAnswerSchema }),
  z.object({
    type: z.literal('session-recalled'),
    sessionId: z.string(),
    turns: z.int(),
    /** What stands in front of the messages that the run began with. */
    messages: z.array(messageSchema),
    problem: z.string().nullable(),
  }),
  z.object({ type: z.literal('session-stored'), sessionId: z.string(), problem: z.string().nullable() }),
  z.object({ type: z.literal('attempt-start'), attemptId: z.string(), task: z.string(), attempt: z.int() }),
  z.object({
    type: z.literal('attempt-end'),
    attemptId: z.string(),
    task: z.string(),
    attempt: z.int(),
    failure: failureSchema.nullable(),
    usage: tokenUsageSchema,
  }),
  z.object({
    type: z.literal('attempt-retry'),
    attemptId: z.string(),
    attempt: z.int(),
    model: z.int(),
    inMs: z.number(),
  }),
  z.object({ type: z.literal('capability-start'), capability: z.string(), index: z.int() }),
  z.object({
    type: z.literal('continuation'),
    index: z.int(),
    decidedBy: z.enum(['function', 'model']),
    /** Null where what was said is no continuation. */
    done: z.boolean().nullable(),
    next: z.string().nullable(),
    limitReached: z.boolean(),
  }),
  z.object({
    type: z.literal('capability-stop'),
    reason: stopReasonSchema,
    runs: z.int(),
    failed: z.int(),
    /** What the runs took together. */
    capabilityMs: z.number(),
    code: capabilityFailureSchema.nullable(),
    problem: z.string().nullable(),
  }),
  z.object({ type: z.literal('capability-end'), index: z.int(), result: capabilityResultSchema }),
]);
export type EmittedEvent = z.infer<typeof emittedEventSchema>;
