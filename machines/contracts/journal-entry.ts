import { z } from 'zod';
import { tokenUsageSchema, usageSchema } from './budget.ts';
import { callEventSchema } from './call-event.ts';
import { capabilityFailureSchema, capabilityResultSchema, stopReasonSchema } from './capability.ts';
import { chainEventSchema } from './chain-event.ts';
import { chainInputSchema } from './chain-input.ts';
import { consentGiverSchema, consentRequestSchema } from './consent.ts';
import { contextOperationSchema } from './context-operation.ts';
import { decisionSchema } from './decision.ts';
import { failureSchema } from './failure.ts';
import { messageSchema } from './message.ts';
import { phaseSchema } from './phase.ts';
import { contextStatisticsSchema, pruningSchema } from './phases/understanding.ts';
import { finalAnswerSchema } from './synthesis.ts';
import { verdictInputsSchema } from './verdict.ts';

export const JOURNAL_VERSION = 1;

/** A candidate of a transition in document order: its guard, what the guard said, and what it saw. */
const candidateSchema = z.object({
  guard: z.string().nullable(),
  target: z.array(z.string()),
  verdict: z.enum(['false', 'taken', 'not-evaluated']),
  inputs: verdictInputsSchema.nullable(),
});

/** What the charts emit: the facts of a run. An XState user gets the same with `actor.on('decision', …)`. */
export const chainFactSchema = z.discriminatedUnion('type', [
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
export type ChainFact = z.infer<typeof chainFactSchema>;

/** A prompt that a run was made with; `digest` tells its words apart where they can be read without a run, else it is null [E8]. */
const promptVersionSchema = z.object({ name: z.string(), version: z.number(), digest: z.string().nullable() });
export type PromptVersion = Readonly<z.infer<typeof promptVersionSchema>>;

/** How a run begins: everything that it goes by, as it was started with. A journal of its own begins with one. */
const runStartSchema = chainInputSchema.extend({
  type: z.literal('run-start'),
  version: z.literal(JOURNAL_VERSION),
  /** The chart that ran, and a short name for its definition: it changes with the chart. */
  chart: z.object({ id: z.string(), digest: z.string() }),
  modelId: z.string(),
  /** Those that stand behind the first, in order. */
  fallbackModelIds: z.array(z.string()).readonly(),
  /** By task. */
  prompts: z.record(z.string(), promptVersionSchema),
  startedAt: z.iso.datetime(),
  /** What the program that started the run wants to know of it later; JSON. */
  host: z.record(z.string(), z.json()).nullable(),
  /** The run that this one goes on from, and what was changed there; null for one that began by itself. */
  /** Texts of it were replaced as they were written: what was decided by them cannot be made again. */
  redacted: z.boolean(),
  forkedFrom: z.object({ runId: z.string(), seq: z.int().min(0), changes: z.array(z.string()).readonly() }).nullable(),
});

export type RunStart = z.infer<typeof runStartSchema>;

/**
 * What comes to the charts from outside, one at a time: a run is nothing but what its charts make of these, so they are what a replay
 * feeds them with.
 */
const stimulusSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('delivery'), event: chainEventSchema }),
  z.object({ type: z.literal('call-event'), call: z.int().min(0), port: z.string(), event: callEventSchema }),
  /** A delay of a chart is over; timers count from 0 in the order in which they were set. */
  z.object({ type: z.literal('timer'), timer: z.int().min(0) }),
  /** Somebody stopped the actor from outside. */
  z.object({ type: z.literal('run-stopped') }),
]);
export type Stimulus = z.infer<typeof stimulusSchema>;

/** What is written beside what the charts do: it changes nothing in them. */
const noteSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('retrieval'),
    query: z.string(),
    passages: z.int(),
    widened: z.boolean(),
    failure: z.string().nullable(),
  }),
  z.object({ type: z.literal('text-delta'), attemptId: z.string(), text: z.string() }),
  /** The process that ran it had ended: another one goes on here. */
  z.object({ type: z.literal('resumed'), resumedAt: z.iso.datetime() }),
]);
export type Note = z.infer<typeof noteSchema>;

/** What the runtime writes beside the charts' facts. */
const runtimeFactSchema = z.discriminatedUnion('type', [
  runStartSchema,
  ...stimulusSchema.options,
  ...noteSchema.options,
  /** A chart asks the world; calls count from 0 in the order in which they were made. */
  z.object({
    type: z.literal('call-start'),
    call: z.int().min(0),
    port: z.string(),
    /** Where a model is asked. */
    attemptId: z.string().optional(),
    task: z.string().optional(),
    /** Where a capability runs. */
    capability: z.string().optional(),
  }),
  z.object({
    type: z.literal('transition'),
    machine: z.string(),
    event: z.string(),
    source: z.string(),
    target: z.array(z.string()),
    candidates: z.array(candidateSchema),
  }),
  z.object({ type: z.literal('run-end'), status: z.enum(['completed', 'degraded', 'cancelled']), usage: usageSchema }),
]);
export type RuntimeFact = z.infer<typeof runtimeFactSchema>;

const kindsOf = (schema: { readonly options: readonly { readonly shape: { readonly type: z.ZodLiteral } }[] }) =>
  new Set(schema.options.flatMap(({ shape }) => [...shape.type.values] as string[]));

/** The kinds of entries that a replay feeds to the charts, and those that it copies: all others the charts make again. */
export const STIMULI = kindsOf(stimulusSchema) as ReadonlySet<Fact['type']>;
export const NOTES = kindsOf(noteSchema) as ReadonlySet<Fact['type']>;

/** The place of an entry: `seq` counts from 0 without a gap, `atMs` is milliseconds from the start by the run's clock. */
const place = { seq: z.int().min(0), atMs: z.number() };
const entrySchema = z.discriminatedUnion('type', [
  ...chainFactSchema.options.map((option) => option.extend(place)),
  ...runtimeFactSchema.options.map((option) => option.extend(place)),
] as unknown as readonly [z.ZodObject<{ type: z.ZodLiteral<Fact['type']> }>]);
export const journalEntrySchema = entrySchema as unknown as z.ZodType<JournalEntry>;
export type Fact = ChainFact | RuntimeFact;
export type JournalEntry = Fact & { readonly seq: number; readonly atMs: number };
