import * as z from 'zod/mini';
import {
  capabilityCallSchema,
  capabilityDescriptorSchema,
  capabilityResultSchema,
  continuationReplySchema,
  memoryEntrySchema,
  stopReasonSchema,
} from './capability.ts';
import { reasonCodeSchema } from './context.ts';
import { decisionSchema } from './decision.ts';
import { unitSchema } from './limits.ts';
import { type Message, roleSchema } from './message.ts';
import { passageSchema, retrievalSchema } from './passage.ts';
import { PHASES, type Phase, phaseSchema } from './phase.ts';
import { synthesisReplySchema } from './synthesis.ts';

/**
 * The input of every phase. `prompt` is the user's request in the first cycle and Yield's continuation prompt later;
 * `content` comes from the previous phase; `messages` is the context with that phase's operations applied. Messages are
 * not validated again: each was validated when it entered the context, and a step must not cost as much as the context.
 */
const common = {
  runId: z.string(),
  request: z.string().check(z.minLength(1)),
  prompt: z.string().check(z.minLength(1)),
  cycle: z.int().check(z.gte(1)),
  step: z.int().check(z.gte(1)),
  content: z.string(),
  messages: z.custom<readonly Message[]>((value) => Array.isArray(value), 'an array of messages'),
};

/**
 * The size of the context before and after an evaluation. `estimated`: tokens are characters / 4, not counted by the
 * model's tokenizer. `tokensOver` and `messagesOver` are the excess over the limits after everything was removed that
 * needs no consent.
 */
export const contextStatisticsSchema = z.object({
  messagesBefore: z.int(),
  messagesAfter: z.int(),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
  tokensAllowed: z.int(),
  estimated: z.boolean(),
  pruned: z.int(),
  summarized: z.int(),
  tokensOver: z.int(),
  messagesOver: z.int(),
});
export type ContextStatistics = Readonly<z.infer<typeof contextStatisticsSchema>>;

/**
 * What Yield receives about the run besides the context. `confidences` are those of this cycle's phases (for Intention, its
 * clarity), `decisions` those of earlier cycles, the newest last. `context`: the last evaluation by Understanding; null before.
 * `failures` are texts.
 */
const runProgressSchema = z.object({
  maxCycles: z.int().check(z.gte(1)),
  confidences: z.readonly(z.array(z.object({ phase: phaseSchema, confidence: unitSchema }))),
  decisions: z.readonly(z.array(decisionSchema)),
  // Not z.catch, with which all of zod's helper functions end up in a bundle.
  context: z.union([z.nullable(contextStatisticsSchema), z.transform(() => null)]),
  modelCalls: z.int().check(z.gte(0)),
  tokens: z.int().check(z.gte(0)),
  corrections: z.int().check(z.gte(0)),
  failures: z.readonly(z.array(z.string())),
});
export type RunProgress = Readonly<z.infer<typeof runProgressSchema>>;

/** Conditions that make one next phase more useful than another. */
const flagSchema = z.enum(['unclear_intent', 'undigested_insights', 'source_failed']);
export type Flag = z.infer<typeof flagSchema>;

export const phaseInputSchema = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('action'), ...common, capabilities: z.readonly(z.array(capabilityDescriptorSchema)) }),
  z.object({ phase: z.literal('experience'), ...common, passages: z.readonly(z.array(passageSchema)) }),
  z.object({ phase: z.literal('intention'), ...common }),
  z.object({ phase: z.literal('observation'), ...common }),
  z.object({ phase: z.literal('understanding'), ...common }),
  z.object({
    phase: z.literal('yield'),
    ...common,
    previousAnswer: z.string(),
    flags: z.readonly(z.array(flagSchema)),
    phases: z.readonly(z.array(phaseSchema)),
    progress: runProgressSchema,
  }),
]);
export type PhaseInput = Readonly<z.infer<typeof phaseInputSchema>>;

/** The model's reply in Action: an answer from what is known now, and the capabilities to run, if any. */
const actionReplySchema = z.object({
  response: z.string().check(z.describe('The answer, in the language of the request')),
  confidence: unitSchema,
  calls: z.readonly(z.array(capabilityCallSchema)),
});
export type ActionReply = Readonly<z.infer<typeof actionReplySchema>>;

/**
 * The result of every phase. `prose`: the model answered in prose, which became the main text field of the reply. `attemptId`: the
 * attempt that the reply is from, which may be that of an earlier phase; null without a model call.
 */
const anyResult = {
  step: z.int().check(z.gte(1)),
  prose: z.boolean(),
  attemptId: z.exactOptional(z.nullable(z.string())),
};

/**
 * The result of Action: the reply that classified the request, and what its capability loop has done so far, in all Actions of
 * the run.
 */
const actionResultSchema = z.object({
  phase: z.literal('action'),
  ...anyResult,
  reply: actionReplySchema,
  results: z.readonly(z.array(capabilityResultSchema)),
  /** Capability runs; a first step that could not run has a result but is not a run. */
  runs: z.int().check(z.gte(0)),
  stopReason: stopReasonSchema,
  /** What was wrong with the next step or with the decider; null if nothing was. */
  problem: z.nullable(z.string()),
  /** What the session remembers of it. */
  memory: z.readonly(z.array(memoryEntrySchema)),
});
export type ActionResult = Readonly<z.infer<typeof actionResultSchema>>;

/** The model's reply in Experience: what the passages contain for the request, and what is still missing. */
const experienceReplySchema = z.object({
  summary: z.string(),
  relevantPassageIds: z
    .array(z.string())
    .check(z.describe('Ids of the passages (messages with the role search) that are relevant to the request')),
  missing: z.array(z.string()).check(z.describe('Information still missing to answer the request')),
  confidence: unitSchema,
});
export type ExperienceReply = Readonly<z.infer<typeof experienceReplySchema>>;

/** The result of Experience. `sourceFailure`: why the search failed; the phase continued without passages. */
const experienceResultSchema = z.object({
  phase: z.literal('experience'),
  ...anyResult,
  reply: experienceReplySchema,
  retrieval: retrievalSchema,
  sourceFailure: z.nullable(z.string()),
});
export type ExperienceResult = Readonly<z.infer<typeof experienceResultSchema>>;

/** The model's reply in Intention. */
export const intentionReplySchema = z.object({
  goal: z.string(),
  alternatives: z.array(z.string()),
  clarity: unitSchema.check(z.describe('How clear the request is')),
  unclearIntent: z.boolean().check(z.describe('Whether the request is ambiguous or contradictory')),
  alignment: z
    .array(z.object({ messageId: z.string(), score: unitSchema }))
    .check(z.describe('Messages that serve the goal especially well, or not at all')),
});
export type IntentionReply = Readonly<z.infer<typeof intentionReplySchema>>;

const intentionResultSchema = z.object({
  phase: z.literal('intention'),
  ...anyResult,
  reply: intentionReplySchema,
  /** Instructions in the request that contradict each other, in words. */
  conflicts: z.readonly(z.array(z.string())),
});
export type IntentionResult = Readonly<z.infer<typeof intentionResultSchema>>;

/** The model's reply in Observation: what is worth keeping, and what is connected. Ids are message ids. */
const observationReplySchema = z.object({
  insights: z.array(z.string()),
  undigested: z.boolean().check(z.describe('Whether an insight has not been used yet')),
  entities: z
    .array(z.object({ name: z.string(), messageIds: z.array(z.string()) }))
    .check(z.describe('Entities, each with the ids of the messages that mention it')),
  connections: z
    .array(z.object({ from: z.string(), to: z.string(), relation: z.string(), strength: unitSchema }))
    .check(z.describe('Connections between messages; from and to are message ids')),
  importance: z.array(z.object({ messageId: z.string(), score: unitSchema })),
});
export type ObservationReply = Readonly<z.infer<typeof observationReplySchema>>;

const observationResultSchema = z.object({
  phase: z.literal('observation'),
  ...anyResult,
  reply: observationReplySchema,
  /** Connections that contradict an existing link: reported, never overwritten. */
  conflicts: z.readonly(z.array(z.string())),
});
export type ObservationResult = Readonly<z.infer<typeof observationResultSchema>>;

/** The model's reply in Understanding: what is known so far, and how relevant individual messages are. */
const understandingReplySchema = z.object({
  integrated: z.string(),
  assessments: z
    .array(z.object({ messageId: z.string(), relevance: unitSchema, reason: z.string() }))
    .check(z.describe('Search and assistant messages whose relevance to the request has changed, and why')),
});
export type UnderstandingReply = Readonly<z.infer<typeof understandingReplySchema>>;

/** One message that was pruned or summarized, and why. `relevance` is null if the user decided. */
export const pruningSchema = z.object({
  operationId: z.string(),
  operation: z.enum(['PRUNE', 'TRANSFORM']),
  messageId: z.string(),
  role: roleSchema,
  preview: z.string(),
  tokens: z.int(),
  relevance: z.nullable(z.number()),
  code: reasonCodeSchema,
  reason: z.string(),
});
export type Pruning = Readonly<z.infer<typeof pruningSchema>>;

const understandingResultSchema = z.object({
  phase: z.literal('understanding'),
  ...anyResult,
  reply: understandingReplySchema,
  statistics: contextStatisticsSchema,
  pruningLog: z.readonly(z.array(pruningSchema)),
  /** What could not be measured, in one line; null if all was. */
  problem: z.nullable(z.string()),
});
export type UnderstandingResult = Readonly<z.infer<typeof understandingResultSchema>>;

/**
 * The model's reply in Yield: the current answer and its quality. It proposes; the chart's guards decide.
 * `proposedPhase` is a free string so that an unknown phase falls back instead of failing validation.
 */
const yieldReplySchema = z.object({
  answer: z.string().check(z.describe('The answer, in the language of the request')),
  confidence: unitSchema,
  taskComplete: z.boolean(),
  informationSufficiency: unitSchema.check(z.describe('How sufficient the information is to answer the request')),
  needsTools: z.boolean().check(z.describe('Whether a tool is needed')),
  proposedPhase: z.nullable(z.string()).check(z.describe(`The phase to continue with (${PHASES.join(', ')}), or null`)),
  rationale: z.string(),
  usedMessageIds: z.array(z.string()).check(z.describe('Ids of the messages that support the answer')),
  noEvidence: z._default(z.boolean(), false).check(z.describe('Whether the answer only says that nothing was found')),
  notes: z._default(z.string(), '').check(z.describe('Doubts about the answer, for its reader')),
});
export type YieldReply = Readonly<z.infer<typeof yieldReplySchema>>;

/** An exception that a brief reply reports. `of`: the number of the material that it is about, from 1; null if it is about none. */
const exceptionSchema = z.object({
  kind: z.enum(['irrelevant', 'important', 'missing', 'unclear', 'insight', 'nothing_found', 'doubt']),
  of: z._default(z.nullable(z.number()), null),
  text: z._default(z.string(), ''),
});

/**
 * One reply for one or several phases. The answer comes first, so that it can be shown while it streams. `except` lists what is
 * unusual, such as irrelevant material, an unclear request, missing information or a doubt; it is empty if nothing is. The schema requires
 * every field, but a reply may omit those that have a default.
 */
export const briefReplySchema = z.object({
  answer: z.string(),
  used: z._default(z.array(z.number()), []).check(z.describe('Numbers of the material it rests on')),
  confidence: unitSchema,
  enough: unitSchema.check(z.describe('How sufficient the material is')),
  done: z._default(z.boolean(), false).check(z.describe('Whether it does all that is asked')),
  next: z
    ._default(z.nullable(z.string()), null)
    .check(z.describe('If it needs more work: action, experience, intention, observation or understanding')),
  except: z._default(z.array(exceptionSchema), []).check(z.describe('Only what deviates; usually empty')),
});
export type BriefReply = Readonly<z.infer<typeof briefReplySchema>>;

const yieldResultSchema = z.object({ phase: z.literal('yield'), ...anyResult, reply: yieldReplySchema });
export type YieldResult = Readonly<z.infer<typeof yieldResultSchema>>;

/** The result of a phase: the model's validated reply, and what the engine added to it. */
export const phaseResultSchema = z.discriminatedUnion('phase', [
  actionResultSchema,
  experienceResultSchema,
  intentionResultSchema,
  observationResultSchema,
  understandingResultSchema,
  yieldResultSchema,
]);
export type PhaseResult = Readonly<z.infer<typeof phaseResultSchema>>;

/** The newest result of each phase. */
export type PhaseResults = { readonly [P in Phase]: Extract<PhaseResult, { phase: P }> | null };

/** Texts of messages for the model to summarize, each with the maximum length of its summary. */
export const summaryInputSchema = z.object({
  request: z.string().check(z.minLength(1)),
  texts: z.readonly(
    z.array(z.object({ messageId: z.string(), content: z.string(), maxChars: z.int().check(z.gte(1)) })),
  ),
});
export type SummaryInput = Readonly<z.infer<typeof summaryInputSchema>>;

/** The model's summaries. An extract replaces a summary that is missing or too long. */
export const summaryReplySchema = z.object({
  summaries: z.array(z.object({ messageId: z.string(), summary: z.string() })),
});
export type SummaryReply = Readonly<z.infer<typeof summaryReplySchema>>;

/** The schema of the model's reply, by prompt. */
export const replySchemas = {
  action: actionReplySchema,
  experience: experienceReplySchema,
  intention: intentionReplySchema,
  observation: observationReplySchema,
  understanding: understandingReplySchema,
  yield: yieldReplySchema,
  continuation: continuationReplySchema,
  summary: summaryReplySchema,
  synthesis: synthesisReplySchema,
  /** Each run has its own schema. */
  value: z.unknown(),
  brief: briefReplySchema,
} as const;

/** The model's reply, by prompt. */
export type Replies = { readonly [T in keyof typeof replySchemas]: Readonly<z.input<(typeof replySchemas)[T]>> };
