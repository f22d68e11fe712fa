import * as z from 'zod/mini';
import { decisionSchema, interruptionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { thresholdsSchema, unitSchema } from './limits.ts';
import { messageSchema, sourceSchema } from './message.ts';
import { usageSchema } from './usage.ts';

/** Whether a text contains more than spaces, control characters and zero-width characters. */
export const hasVisibleText = (text: string): boolean => /[^\s\p{Cc}\p{Cf}]/u.test(text);

/** The model's reply in synthesis: the text and what it used. It sets no flags. */
export const synthesisReplySchema = z.object({
  answerText: z.string().check(z.trim(), z.minLength(1), z.refine(hasVisibleText, 'must contain visible text')),
  confidence: unitSchema,
  usedMessageIds: z.array(z.string()),
  /** The steps that the text is made from; the engine ignores ids that do not exist. */
  usedStepIds: z._default(z.array(z.string()), []),
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
  /** Yield's answer is the final one, so no model was asked for another. */
  z.object({ type: z.literal('drafted'), usage: usageSchema }),
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
const citationSchema = z.extend(sourceSchema, { messageId: z.string(), quote: z.string() });
export type Citation = Readonly<z.infer<typeof citationSchema>>;

const nonNegativeInt = z.int().check(z.gte(0));
const counted = z.object({ limit: z.nullable(nonNegativeInt), used: nonNegativeInt, left: z.nullable(nonNegativeInt) });

/**
 * The limits of a run and their real usage; an unknown limit is null. Tokens and calls are those of the phases, the
 * reserve is synthesis; `ttl` counts cycles; time ends with the last recorded event of the run.
 */
const budgetSchema = z.object({
  tokens: counted,
  modelCalls: counted,
  totalMs: z.object({ limit: z.nullable(z.number().check(z.gte(0))), used: z.nullable(z.number().check(z.gte(0))) }),
  ttl: counted,
  synthesisReserveTokens: z.object({ limit: z.nullable(nonNegativeInt), used: nonNegativeInt }),
});
export type Budget = Readonly<z.infer<typeof budgetSchema>>;

/** The final answer of a run: the text is never empty. The engine computes `metadata`; no model writes it. */
export const finalAnswerSchema = z.object({
  answerText: z.string().check(z.minLength(1)),
  confidence: unitSchema,
  usedStepIds: z.readonly(z.array(z.string())),
  notes: z.string(),
  ttlExhausted: z.boolean(),
  status: z.enum(['completed', 'degraded', 'cancelled']),
  sources: z.readonly(z.array(citationSchema)),
  metadata: z.object({
    degraded: z.boolean(),
    reason: z.nullable(degradationSchema),
    explanation: z.string(),
    missingFields: z.readonly(z.array(z.string())),
    /** Who wrote the text; if it was not the model, what prevented that, and the error. */
    synthesis: z.object({
      writtenBy: z.enum(['model', 'engine']),
      fallback: z.nullable(z.enum(FALLBACKS)),
      error: z.nullable(z.string()),
    }),
    decision: z.nullable(decisionSchema),
    cycles: z.int().check(z.gte(0)),
    /** Replies that were corrected. */
    refinements: z.int().check(z.gte(0)),
    usage: usageSchema,
    budget: budgetSchema,
    /**
     * Cost of the model calls, in total and by task, and how much more it would be
     * without the cached input tokens; null if a price is unknown. Older journals have only the total.
     */
    cost: z.nullable(
      z.object({
        amount: z.number().check(z.gte(0)),
        currency: z.string(),
        byTask: z._default(z.record(z.string(), z.number().check(z.gte(0))), {}),
        savedByCache: z._default(z.number().check(z.gte(0)), 0),
      }),
    ),
    failures: z.readonly(z.array(phaseFailureSchema)),
  }),
});
export type FinalAnswer = Readonly<z.infer<typeof finalAnswerSchema>>;

const text = z.string().check(z.describe('a string'));
const filled = z.string().check(
  z.refine((given) => given.trim() !== ''),
  z.describe('a non-empty string'),
);
const texts = z.readonly(z.array(text));
const count = z.int().check(z.gte(0), z.describe('an integer ≥ 0'));
const share = unitSchema.check(z.describe('a number from 0 to 1'));
const flag = z.boolean().check(z.describe('a boolean'));
const limit = z._default(z.nullable(count), null).check(z.describe('an integer ≥ 0, or null'));
const ms = z._default(z.nullable(z.number().check(z.gte(0))), null).check(z.describe('a number ≥ 0, or null'));

/** Years above 9999 have a sign and six digits. */
const FAR_YEARS = /^[+-]\d{6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/u;

type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };
/** An object of another program: anything that JSON can represent. */
export type Dictionary = { readonly [name: string]: JsonValue };
const dictionarySchema = z
  .pipe(
    z.record(z.string(), z.unknown()),
    z.transform((given, { issues }) => {
      try {
        return JSON.parse(JSON.stringify(given)) as Dictionary;
      } catch {
        issues.push({ code: 'custom', input: given, message: 'It cannot be written as JSON.' });
        return z.NEVER;
      }
    }),
  )
  .check(z.describe('an object of JSON values'));

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

const draftSchema = z.object({ text, confidence: share, usedMessageIds: texts, notes: z._default(text, '') });
export type Draft = Readonly<z.infer<typeof draftSchema>>;

/**
 * Data about the run beyond the contract's fields, for citations and counts. A missing field means unknown or absent; a
 * null limit is unknown.
 */
const runViewSchema = z.object({
  /** Yield's last answer; null if no cycle produced one; omitted if there is no Yield. */
  answer: z.optional(z.nullable(z.string())).check(z.describe('a string, or null')),
  /** The best text of the run; if omitted, the best step is used. */
  draft: z
    ._default(z.nullable(draftSchema), null)
    .check(z.describe('an object with text, confidence and usedMessageIds')),
  /** The context to cite from. */
  messages: z._default(z.readonly(z.array(messageSchema)), []).check(z.describe('an array of messages')),
  /** The phases of a complete cycle. */
  phases: z._default(texts, []).check(z.describe('an array of strings')),
  mode: z._default(z.enum(['automatic', 'manual']), 'automatic').check(z.describe('"automatic" or "manual"')),
  interruption: z._default(z.nullable(interruptionSchema), null).check(z.describe('an interruption, or null')),
  decision: z._default(z.nullable(decisionSchema), null).check(z.describe('a decision, or null')),
  limits: z
    .prefault(
      z.object({
        maxCycles: limit,
        maxModelCalls: limit,
        maxTokens: limit,
        synthesisReserveTokens: limit,
        totalMs: ms,
        /** The part of `totalMs` that the phases may take; the rest is reserved for the answer and the session. */
        phasesMs: ms,
      }),
      {},
    )
    .check(z.describe('an object with limits')),
  /** Whether there were documents to search, and how much of an answer they must support. */
  hasDocuments: z._default(flag, false),
  thresholds: z
    .prefault(
      z.object({
        grounding: thresholdsSchema.shape.grounding.check(z.describe('a number from 0 to 1')),
        ungroundedConfidence: thresholdsSchema.shape.ungroundedConfidence.check(z.describe('a number from 0 to 1')),
      }),
      {},
    )
    .check(z.describe('an object with thresholds')),
  /** Usage before synthesis. */
  usage: z
    ._default(usageSchema, { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false, cost: 0 })
    .check(z.describe('an object with usage')),
  /** The cost before synthesis by task. */
  costs: z._default(z.record(z.string(), z.number().check(z.gte(0))), {}).check(z.describe('an object with costs')),
  currency: z._default(z.nullable(filled), null).check(z.describe('a currency, or null')),
  /** From the start to the last recorded event. */
  elapsedMs: ms,
  /** By how much the context exceeds its limits. */
  excess: z
    .prefault(z.object({ tokens: z._default(count, 0), messages: z._default(count, 0) }), {})
    .check(z.describe('an object with tokens and messages')),
  /** Whether Yield's answer only says that nothing was found. */
  noEvidence: z._default(flag, false),
  /** Why the documents could not be searched. */
  sourceFailure: z._default(z.nullable(text), null).check(z.describe('a string, or null')),
  /** The phases whose newest reply is prose instead of JSON. */
  prosePhases: z._default(texts, []).check(z.describe('an array of strings')),
  /** Why the continuation decider of the last Action failed. */
  deciderProblem: z._default(z.nullable(text), null).check(z.describe('a string, or null')),
  /** Why the session could not be recalled or kept. */
  sessionProblem: z._default(z.nullable(text), null).check(z.describe('a string, or null')),
  /** The phases that failed. */
  failures: z._default(z.readonly(z.array(phaseFailureSchema)), []).check(z.describe('an array of failures')),
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
    .readonly(z.array(z.pipe(dictionarySchema, z.transform(stepOf)).check(z.describe('an object of JSON values'))))
    .check(z.describe('an array of steps')),
  planState: dictionarySchema,
  convergenceAssessment: dictionarySchema,
  executionPasses: z
    ._default(z.nullable(z.readonly(z.array(dictionarySchema))), null)
    .check(z.describe('an array of passes')),
  semanticValidation: z._default(z.nullable(dictionarySchema), null),
  taskProfile: z._default(z.nullable(dictionarySchema), null),
  correlationId: filled,
  executionStartTimestamp: z
    .union([z.iso.datetime({ offset: true, local: true }), z.string().check(z.regex(FAR_YEARS))])
    .check(z.describe('an ISO 8601 time')),
  convergenceStatus: flag,
  totalPasses: count,
  totalRefinements: count,
  ttlRemaining: count,
  run: z.prefault(runViewSchema, {}).check(z.describe('an object that describes the run')),
});
export type SynthesisInput = Readonly<z.infer<typeof synthesisInputSchema>>;

/** Returns what a value of this schema is, in words; undefined if the schema has no description. */
export const expectationOf = (schema: unknown): string | undefined =>
  z.globalRegistry.get(schema as z.ZodMiniType)?.description;
