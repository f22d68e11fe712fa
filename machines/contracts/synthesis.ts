import * as z from 'zod/mini';
import { decisionSchema } from './decision.ts';
import { phaseFailureSchema } from './failure.ts';
import { unitSchema } from './limits.ts';
import { messageSchema, sourceSchema } from './message.ts';
import { type Usage, usageSchema } from './usage.ts';

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
const FALLBACKS = ['prompt', 'model', 'validation', 'other'] as const;
export type Fallback = (typeof FALLBACKS)[number];

/**
 * How the answer was written: by a model; by the engine because the model failed; or by the engine without a model call
 * (`why`, if the user should know). `usage` is the usage of its calls.
 */
export type SynthesisOutcome = { readonly usage: Usage } & (
  | {
      readonly type: 'written';
      readonly reply: SynthesisReply;
      /** The model answered in prose, which became the text. */
      readonly prose: boolean;
    }
  | { readonly type: 'failed'; readonly fallback: Fallback; readonly error: string }
  /** Yield's answer is the final one, so no model was asked for another. */
  | { readonly type: 'drafted' }
  | { readonly type: 'composed'; readonly why: string }
);

/** What a run must return besides the text: a value of this JSON Schema. `hasModel`: whether a language model can state it. */
export const requestedValueSchema = z.object({
  schema: z.record(z.string(), z.unknown()),
  hasModel: z.boolean(),
});

/** How the value was stated: a valid value, or why there is none, in words. */
export type ValueOutcome = { readonly usage: Usage } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }
);

const count = z.int().check(z.gte(0));
const amount = z.number().check(z.gte(0));

/** The codes of the reasons without values. */
const PLAIN_CODES = [
  'cancelled',
  'interrupted',
  'model_unavailable',
  'incomplete_state',
  'budget_exhausted',
  'decider_failed',
  'no_evidence',
  'zero_passes',
  'loop_detected',
  'not_converged',
  'search_failed',
  'value_missing',
  'agent_failed',
] as const;

/** One or more sentences on one line. */
const message = z.string();

/** A reason why an answer is degraded, with the values that were compared. */
const reasonSchema = z.discriminatedUnion('code', [
  z.object({ code: z.enum(PLAIN_CODES), message }),
  z.object({ code: z.literal('deadline_passed'), message, limitMs: z.nullable(amount) }),
  /** `tasks`: the tasks that the model answered in prose. */
  z.object({ code: z.literal('prose_replies'), message, tasks: z.readonly(z.array(z.string())) }),
  /** `by`: the ids of the messages whose numbers differ from those of the answer, or from each other. */
  z.object({ code: z.literal('contradicted'), message, by: z.readonly(z.array(z.string())) }),
  z.object({ code: z.literal('not_grounded'), message, score: unitSchema, threshold: unitSchema }),
  z.object({ code: z.enum(['capability_failed', 'capability_denied']), message, capability: z.string() }),
  /** `runs`: the capability runs of the request; `limit`: how many it may have. */
  z.object({ code: z.literal('rounds_ended'), message, runs: count, limit: count }),
  z.object({ code: z.literal('cycle_limit_reached'), message, cycles: count, limit: z.nullable(count) }),
  z.object({ code: z.literal('context_over_limit'), message, excessTokens: count }),
  z.object({ code: z.literal('synthesis_failed'), message, fallback: z.enum(FALLBACKS) }),
  z.object({ code: z.literal('low_confidence'), message, confidence: unitSchema, threshold: unitSchema }),
]);
export type AnswerReason = Readonly<z.infer<typeof reasonSchema>>;

const reasonCodeSchema = z.enum([
  ...PLAIN_CODES,
  'deadline_passed',
  'prose_replies',
  'contradicted',
  'not_grounded',
  'capability_failed',
  'capability_denied',
  'rounds_ended',
  'cycle_limit_reached',
  'context_over_limit',
  'synthesis_failed',
  'low_confidence',
] as const satisfies readonly AnswerReason['code'][]);

/**
 * How far the gathered text supports the answer (`score`), and the `threshold` below which the answer is not grounded. `unsupported`: the
 * sentences below the threshold; `text === answerText.slice(start, end)`, in UTF-16 units.
 */
const groundingSchema = z.object({
  score: unitSchema,
  threshold: unitSchema,
  unsupported: z.readonly(z.array(z.object({ text: z.string(), start: count, end: count }))),
});

/** A source of the answer, by file and line. */
const citationSchema = z.extend(sourceSchema, { messageId: z.string(), quote: z.string() });
export type Citation = Readonly<z.infer<typeof citationSchema>>;

const counted = z.object({ limit: z.nullable(count), used: count, left: z.nullable(count) });

/**
 * The limits of a run and their real usage; an unknown limit is null. Tokens and calls are those of the phases, the
 * reserve is synthesis; `ttl` counts cycles; time ends with the last recorded event of the run.
 */
const budgetSchema = z.object({
  tokens: counted,
  modelCalls: counted,
  /** The cost of the entire run, in the currency of the prices; null if a price is unknown. */
  cost: z.nullable(z.object({ limit: z.nullable(amount), used: amount, left: z.nullable(amount) })),
  totalMs: z.object({ limit: z.nullable(z.number().check(z.gte(0))), used: z.nullable(z.number().check(z.gte(0))) }),
  ttl: counted,
  synthesisReserveTokens: z.object({ limit: z.nullable(count), used: count }),
});
export type Budget = Readonly<z.infer<typeof budgetSchema>>;

/** The final answer of a run: the text is never empty. The engine computes `metadata`; no model writes it. */
export const finalAnswerSchema = z.object({
  answerText: z.string().check(z.minLength(1)),
  /** The answer as a value of the schema that the run was given; absent without one, or with the reason `value_missing`. */
  value: z.exactOptional(z.unknown()),
  confidence: unitSchema,
  usedStepIds: z.readonly(z.array(z.string())),
  notes: z.string(),
  ttlExhausted: z.boolean(),
  /** `completed` if there are no reasons. */
  status: z.enum(['completed', 'degraded', 'cancelled']),
  /** The most important first. */
  reasons: z.readonly(z.array(reasonSchema)),
  /** Null if there was nothing to compare the answer with. */
  grounding: z.nullable(groundingSchema),
  sources: z.readonly(z.array(citationSchema)),
  metadata: z.object({
    degraded: z.boolean(),
    /** The code of the first reason. */
    reason: z.nullable(reasonCodeSchema),
    missingFields: z.readonly(z.array(z.string())),
    /** Who wrote the text; if it was not the model, what prevented that, and the error. */
    synthesis: z.object({
      writtenBy: z.enum(['model', 'engine']),
      fallback: z.nullable(z.enum(FALLBACKS)),
      error: z.nullable(z.string()),
    }),
    decision: z.nullable(decisionSchema),
    cycles: count,
    /** Replies that were corrected. */
    refinements: count,
    usage: usageSchema,
    budget: budgetSchema,
    /**
     * Cost of the model calls, in total and by task, and how much more it would be
     * without the provider's cache; null if a price is unknown.
     */
    cost: z.nullable(
      z.object({
        amount,
        currency: z.string(),
        byTask: z.record(z.string(), amount),
        savedByCache: z.number(),
      }),
    ),
    /** The phases and the capability runs that failed. */
    failures: z.readonly(z.array(phaseFailureSchema)),
    /** The `correlationId` passed to `synthesizeAnswer`. */
    correlationId: z.exactOptional(z.string()),
  }),
});
export type FinalAnswer = Readonly<z.infer<typeof finalAnswerSchema>>;

/** Returns the messages of all reasons, joined; empty if there are none. */
export const explanationOf = ({ reasons }: Pick<FinalAnswer, 'reasons'>): string =>
  reasons.map(({ message }) => message).join(' ');

const filled = z.string().check(z.refine(hasVisibleText, 'expected a string with visible text'));

/** One result of the run: of a phase, or of any step of another program. */
const stepSchema = z.object({ stepId: z.string(), phase: z.string(), content: z.string() });
export type Step = Readonly<z.infer<typeof stepSchema>>;

const draftSchema = z.object({
  text: z.string(),
  confidence: unitSchema,
  usedMessageIds: z.readonly(z.array(z.string())),
  notes: z.string(),
});
export type Draft = Readonly<z.infer<typeof draftSchema>>;

/** What a model may see when it writes the final answer: the input of the prompt `synthesis`. */
export const answerMaterialSchema = z.object({
  request: z.string(),
  /** The best text of the run so far; its text is empty if there is none. */
  draft: draftSchema,
  /** The results of all cycles, oldest first. */
  steps: z.readonly(z.array(stepSchema)),
  /** The context, which can be cited. */
  messages: z.readonly(z.array(messageSchema)),
  converged: z.boolean(),
  cycles: count,
  corrections: count,
  /** How the run ended, and what else is known about it, as text; empty if nothing is. */
  notes: z.object({
    ending: z.string(),
    plan: z.string(),
    task: z.string(),
    passes: z.string(),
    validation: z.string(),
  }),
});
export type AnswerMaterial = Readonly<z.infer<typeof answerMaterialSchema>>;

/** The input of the prompt `value`: the draft is the final text. */
export const valueInputSchema = z.extend(answerMaterialSchema, { schema: requestedValueSchema.shape.schema });
export type ValueInput = Readonly<z.infer<typeof valueInputSchema>>;

/** An object of another program with any members. It is copied as JSON, so that reading it later has no effects. */
const dictionarySchema = z.pipe(
  z.record(z.string(), z.unknown()),
  z.transform((given, { issues }) => {
    try {
      return JSON.parse(JSON.stringify(given)) as Readonly<Record<string, unknown>>;
    } catch {
      issues.push({ code: 'custom', input: given, message: 'expected an object that can be written as JSON' });
      return z.NEVER;
    }
  }),
);
const optionalDictionary = z.optional(z.nullable(dictionarySchema));

/**
 * The input of `synthesizeAnswer`: a finished run of any program. Passes are cycles, the TTL is counted in cycles, and refinements are
 * corrected replies. Dictionaries may have any members, and the prompt shows them. Of a result, the engine reads `stepId` (or `step_id`,
 * `id`), `phase` (`tool`, `name`) and `content` (`output`, `result`), and of the convergence assessment `confidence`.
 */
export const synthesisInputSchema = z.object({
  request: filled,
  /** The results of all passes, oldest first. */
  executionResults: z.readonly(z.array(dictionarySchema)),
  planState: dictionarySchema,
  convergenceAssessment: dictionarySchema,
  executionPasses: z.optional(z.nullable(z.readonly(z.array(dictionarySchema)))),
  semanticValidation: optionalDictionary,
  taskProfile: optionalDictionary,
  correlationId: z.optional(z.nullable(filled)),
  executionStartTimestamp: z.iso.datetime({ offset: true, local: true, error: 'expected an ISO 8601 time' }),
  convergenceStatus: z.boolean(),
  totalPasses: count,
  totalRefinements: count,
  ttlRemaining: count,
});
export type SynthesisInput = Readonly<z.input<typeof synthesisInputSchema>>;
/** The same with its dictionaries as JSON. */
export type ReadSynthesisInput = Readonly<z.output<typeof synthesisInputSchema>>;
