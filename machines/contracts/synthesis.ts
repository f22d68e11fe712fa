import * as z from 'zod';
import { decisionSchema, interruptionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { thresholdsSchema, unitSchema } from './limits.ts';
import { messageSchema, sourceSchema } from './message.ts';
import { usageSchema } from './usage.ts';

/** Whether a text contains more than spaces, control characters and zero-width characters. */
export const hasVisibleText = (text: string): boolean => /[^\s\p{Cc}\p{Cf}]/u.test(text);

/** The model's reply in synthesis: the text and what it used. It sets no flags. */
export const synthesisReplySchema = z.object({
  answerText: z.string().trim().min(1).refine(hasVisibleText, 'must contain visible text'),
  confidence: unitSchema,
  usedMessageIds: z.array(z.string()),
  /** The steps that the text is made from; the engine ignores ids that do not exist. */
  usedStepIds: z.array(z.string()).default([]),
  notes: z.string(),
});
export type SynthesisReply = Readonly<z.infer<typeof synthesisReplySchema>>;

/** What prevented a model from writing the answer: its prompt, its call, its reply, or anything else. */
export const FALLBACKS = ['prompt', 'model', 'validation', 'other'] as const;
export type Fallback = (typeof FALLBACKS)[number];

/**
 * How the answer was written: by a model; by the engine because the model failed; or by the engine without a model call
 * (`why`, if the user should know). `usage` is the usage of its calls.
 */
export const synthesisOutcomeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('written'),
    reply: synthesisReplySchema,
    usage: usageSchema,
    /** The model answered in prose, which became the text. */
    prose: z.boolean(),
  }),
  z.object({ type: z.literal('failed'), fallback: z.enum(FALLBACKS), error: z.string(), usage: usageSchema }),
  z.object({ type: z.literal('composed'), why: z.string(), usage: usageSchema }),
]);
export type SynthesisOutcome = Readonly<z.infer<typeof synthesisOutcomeSchema>>;

/** Why an answer is degraded, the most important first. */
const degradationSchema = z.enum([
  'cancelled',
  'interrupted',
  'model_unavailable',
  'incomplete_state',
  'deadline_passed',
  'budget_exhausted',
  'prose_replies',
  'decider_failed',
  'no_evidence',
  'ttl_exhausted',
  'zero_passes',
  'loop_detected',
  'not_converged',
  'source_failed',
  'context_over_limit',
  'synthesis_failed',
]);
export type Degradation = z.infer<typeof degradationSchema>;

/** A source of the answer, by file and line. */
const citationSchema = sourceSchema.extend({ messageId: z.string(), quote: z.string() });
export type Citation = Readonly<z.infer<typeof citationSchema>>;

const nonNegativeInt = z.int().min(0);
const counted = z.object({ limit: nonNegativeInt.nullable(), used: nonNegativeInt, left: nonNegativeInt.nullable() });

/**
 * The limits of a run and their real usage; an unknown limit is null. Tokens and calls are those of the phases, the
 * reserve is synthesis; `ttl` counts cycles; time ends with the last recorded event of the run.
 */
const budgetSchema = z.object({
  tokens: counted,
  modelCalls: counted,
  totalMs: z.object({ limit: z.number().min(0).nullable(), used: z.number().min(0).nullable() }),
  ttl: counted,
  synthesisReserveTokens: z.object({ limit: nonNegativeInt.nullable(), used: nonNegativeInt }),
});
export type Budget = Readonly<z.infer<typeof budgetSchema>>;

/** The final answer of a run: the text is never empty. The engine computes `metadata`; no model writes it. */
export const finalAnswerSchema = z.object({
  answerText: z.string().min(1),
  confidence: unitSchema,
  usedStepIds: z.array(z.string()).readonly(),
  notes: z.string(),
  ttlExhausted: z.boolean(),
  status: z.enum(['completed', 'degraded', 'cancelled']),
  sources: z.array(citationSchema).readonly(),
  metadata: z.object({
    degraded: z.boolean(),
    reason: degradationSchema.nullable(),
    explanation: z.string(),
    missingFields: z.array(z.string()).readonly(),
    /** Who wrote the text; if it was not the model, what prevented that, and the error. */
    synthesis: z.object({
      writtenBy: z.enum(['model', 'engine']),
      fallback: z.enum(FALLBACKS).nullable(),
      error: z.string().nullable(),
    }),
    decision: decisionSchema.nullable(),
    cycles: z.int().min(0),
    /** Replies that were corrected. */
    refinements: z.int().min(0),
    usage: usageSchema,
    budget: budgetSchema,
    /** Cost of the model calls; null if a price is unknown. */
    cost: z.object({ amount: z.number().min(0), currency: z.string() }).nullable(),
    failures: z.array(phaseFailureSchema).readonly(),
  }),
});
export type FinalAnswer = Readonly<z.infer<typeof finalAnswerSchema>>;

const text = z.string().describe('a string');
const filled = z
  .string()
  .refine((given) => given.trim() !== '')
  .describe('a non-empty string');
const texts = z.array(text).readonly();
const count = z.int().min(0).describe('an integer ≥ 0');
const share = unitSchema.describe('a number from 0 to 1');
const flag = z.boolean().describe('a boolean');
const limit = count.nullable().default(null).describe('an integer ≥ 0, or null');
const ms = z.number().min(0).nullable().default(null).describe('a number ≥ 0, or null');

/** Years above 9999 have a sign and six digits. */
const FAR_YEARS = /^[+-]\d{6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/u;

type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };
/** An object of another program: anything that JSON can represent. */
export type Dictionary = { readonly [name: string]: JsonValue };
const dictionarySchema = z
  .record(z.string(), z.unknown())
  .transform((given, context) => {
    try {
      return JSON.parse(JSON.stringify(given)) as Dictionary;
    } catch {
      context.addIssue('It cannot be written as JSON.');
      return z.NEVER;
    }
  })
  .describe('an object of JSON values');

/** One result of the run: of a phase, or of any step of another program. */
export interface Step {
  readonly stepId: string;
  readonly phase: string;
  readonly content: string;
}

/** Reads a step from a dictionary. An id that is missing is empty; without a known member for its result, the entire dictionary is the content. */
function stepOf(step: Dictionary): Step {
  const first = (...names: readonly string[]) => names.map((name) => step[name]).find((value) => value != null);
  return {
    stepId: textOf(first('stepId', 'step_id', 'id') ?? ''),
    phase: textOf(first('phase', 'tool', 'name') ?? ''),
    content: textOf(first('content', 'output', 'result') ?? step),
  };
}

const textOf = (value: Dictionary | JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

const draftSchema = z.object({ text, confidence: share, usedMessageIds: texts });
export type Draft = Readonly<z.infer<typeof draftSchema>>;

/**
 * Data about the run beyond the contract's fields, for citations and counts. A missing field means unknown or absent; a
 * null limit is unknown.
 */
const runViewSchema = z.object({
  /** Yield's last answer; null if no cycle produced one; omitted if there is no Yield. */
  answer: z.string().nullable().optional().describe('a string, or null'),
  /** The best text of the run; if omitted, the best step is used. */
  draft: draftSchema.nullable().default(null).describe('an object with text, confidence and usedMessageIds'),
  /** The context to cite from. */
  messages: z.array(messageSchema).readonly().default([]).describe('an array of messages'),
  /** The phases of a complete cycle. */
  phases: texts.default([]).describe('an array of strings'),
  mode: z.enum(['automatic', 'manual']).default('automatic').describe('"automatic" or "manual"'),
  interruption: interruptionSchema.nullable().default(null).describe('an interruption, or null'),
  decision: decisionSchema.nullable().default(null).describe('a decision, or null'),
  limits: z
    .object({
      maxCycles: limit,
      maxModelCalls: limit,
      maxTokens: limit,
      synthesisReserveTokens: limit,
      totalMs: ms,
      /** The part of `totalMs` that the phases may take; the rest is reserved for the answer and the session. */
      phasesMs: ms,
    })
    .prefault({})
    .describe('an object with limits'),
  /** Whether there were documents to search, and how much of an answer they must support. */
  hasDocuments: flag.default(false),
  thresholds: z
    .object({
      grounding: thresholdsSchema.shape.grounding.describe('a number from 0 to 1'),
      ungroundedConfidence: thresholdsSchema.shape.ungroundedConfidence.describe('a number from 0 to 1'),
    })
    .prefault({})
    .describe('an object with thresholds'),
  /** Usage before synthesis. */
  usage: usageSchema
    .default({ modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false, cost: 0 })
    .describe('an object with usage'),
  currency: filled.nullable().default(null).describe('a currency, or null'),
  /** From the start to the last recorded event. */
  elapsedMs: ms,
  /** By how much the context exceeds its limits. */
  excess: z
    .object({ tokens: count.default(0), messages: count.default(0) })
    .prefault({})
    .describe('an object with tokens and messages'),
  /** Whether Yield's answer only says that nothing was found. */
  noEvidence: flag.default(false),
  /** Why the documents could not be searched. */
  sourceFailure: text.nullable().default(null).describe('a string, or null'),
  /** The phases whose newest reply is prose instead of JSON. */
  prosePhases: texts.default([]).describe('an array of strings'),
  /** Why the continuation decider of the last Action failed. */
  deciderProblem: text.nullable().default(null).describe('a string, or null'),
  /** Why the session could not be recalled or kept. */
  sessionProblem: text.nullable().default(null).describe('a string, or null'),
  /** The phases that failed. */
  failures: z.array(phaseFailureSchema).readonly().default([]).describe('an array of failures'),
});

/**
 * The input of synthesis: everything it knows about a run. Field names follow the original contract: passes are cycles, TTL
 * is counted in cycles, refinements are corrected attempts. Dictionaries may have any members, and the prompt shows them; of a step, the
 * engine reads `stepId` (or `step_id`, `id`), `phase` (`tool`, `name`) and `content` (`output`, `result`), and of the convergence
 * assessment `confidence` and `rationale` (`reason`). Three fields may be omitted and are then null; `run` is PostChain's addition.
 */
export const synthesisInputSchema = z.object({
  request: filled,
  /** The results of all passes, oldest first. */
  executionResults: z
    .array(dictionarySchema.transform(stepOf).describe('an object of JSON values'))
    .readonly()
    .describe('an array of steps'),
  planState: dictionarySchema,
  convergenceAssessment: dictionarySchema,
  executionPasses: z.array(dictionarySchema).readonly().nullable().default(null).describe('an array of passes'),
  semanticValidation: dictionarySchema.nullable().default(null),
  taskProfile: dictionarySchema.nullable().default(null),
  correlationId: filled,
  executionStartTimestamp: z.iso
    .datetime({ offset: true, local: true })
    .or(z.string().regex(FAR_YEARS))
    .describe('an ISO 8601 time'),
  convergenceStatus: flag,
  totalPasses: count,
  totalRefinements: count,
  ttlRemaining: count,
  run: runViewSchema.prefault({}).describe('an object that describes the run'),
});
export type SynthesisInput = Readonly<z.infer<typeof synthesisInputSchema>>;
