import { z } from 'zod';
import { tokenUsageSchema } from './budget.ts';
import { capabilityFailureSchema, capabilityResultSchema, stopReasonSchema } from './capability.ts';
import { consentGiverSchema, consentRequestSchema } from './consent.ts';
import { contextOperationSchema } from './context-operation.ts';
import { decisionSchema } from './decision.ts';
import { failureSchema } from './failure.ts';
import { messageSchema } from './message.ts';
import { phaseSchema } from './phase.ts';
import { contextStatisticsSchema, pruningSchema } from './phases/understanding.ts';
import { finalAnswerSchema } from './synthesis.ts';

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
