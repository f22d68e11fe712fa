import * as z from 'zod/mini';
import { unitSchema } from './limits.ts';
import { linkSchema, type Message, messageSchema, roleSchema } from './message.ts';
import { phaseSchema } from './phase.ts';

/**
 * Why an operation was planned, as a stable code. `over_limit`: the context exceeds its limit; `not_referenced`: no
 * recent phase referred to a search result; `user_consent`: the user decided when asked; `no_consent`: kept because
 * the user did not decide: an option did, or no one.
 */
export const reasonCodeSchema = z.enum([
  'phase_output',
  'search_result',
  'capability_result',
  'high_relevance',
  'low_relevance',
  'rated_by_model',
  'important',
  'related',
  'near_duplicate',
  'not_referenced',
  'long_message',
  'over_limit',
  'user_consent',
  'no_consent',
]);
export type ReasonCode = z.infer<typeof reasonCodeSchema>;

/** Common to all operations: id, target message, the reason as a code and in words, and the numbers behind it. */
const common = {
  id: z.string().check(z.minLength(1)),
  target: z.string().check(z.minLength(1)),
  code: reasonCodeSchema,
  reason: z.string().check(z.minLength(1)),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
};

/**
 * The six context operations, as data. `target` is a message id; for ADD it is the id of the new message.
 * `metadata.requiresConsent` marks an operation on user content: it is not applied until the user agrees.
 */
export const contextOperationSchema = z.discriminatedUnion('operation', [
  z.object({ operation: z.literal('ADD'), ...common, data: z.object({ message: messageSchema }) }),
  z.object({
    operation: z.literal('TAG'),
    ...common,
    data: z.object({ tags: z.array(z.string()).check(z.minLength(1)) }),
  }),
  z.object({ operation: z.literal('PRUNE'), ...common, data: z.object({}) }),
  z.object({
    operation: z.literal('TRANSFORM'),
    ...common,
    data: z.object({
      transformation: z.literal('summarize'),
      content: z.string().check(z.minLength(1)),
      maxChars: z.int().check(z.gte(1)),
      /** Characters of the message that the summary replaces. */
      originalChars: z.int().check(z.gte(1)),
    }),
  }),
  z.object({ operation: z.literal('LINK'), ...common, data: linkSchema }),
  z.object({ operation: z.literal('PRIORITIZE'), ...common, data: z.object({ importance: unitSchema }) }),
]);
export type ContextOperation = Readonly<z.infer<typeof contextOperationSchema>>;

/** A message that the user decides about, before or after an operation on it is applied. */
export interface Override {
  readonly messageId: string;
  readonly choice: ConsentChoice;
}

/**
 * A context as an event-sourced document: its initial messages, every operation on them, and the ids of undone
 * operations. The context is computed from it and not stored.
 */
export interface ContextDocument {
  readonly initial: readonly Message[];
  readonly operations: readonly ContextOperation[];
  readonly undone: readonly string[];
}

export interface MeasureContextInput {
  readonly request: string;
  readonly messages: readonly Message[];
}

/**
 * Measurements of each message, in order: its tokens, and its similarity to the request, 0..1 (`similarity` is null
 * without embeddings). `estimated`: tokens are characters / 4. `failure` is one line on what could not be measured.
 */
export interface ContextMeasures {
  readonly tokens: readonly number[];
  readonly estimated: boolean;
  readonly similarity: readonly number[] | null;
  readonly failure: string | null;
}

export interface CompareAnswersInput {
  readonly previous: string;
  readonly current: string;
}

/**
 * What one phase passes to the next: its content and the operations it proposes. They apply when the next phase is
 * done, so a failed phase changes nothing; the next phase already sees them as applied.
 */
export const envelopeSchema = z.object({
  phase: z.nullable(phaseSchema),
  content: z.string(),
  operations: z.readonly(z.array(contextOperationSchema)),
});
export type Envelope = Readonly<z.infer<typeof envelopeSchema>>;

export const consentChoiceSchema = z.enum(['keep', 'summarize', 'remove']);
export type ConsentChoice = z.infer<typeof consentChoiceSchema>;

/**
 * Who decided: the user, an option set beforehand, "nobody" (there was no one to ask), or the timeout; the last two
 * keep.
 */
export const consentGiverSchema = z.enum(['user', 'option', 'default', 'time-out']);
export type ConsentGiver = z.infer<typeof consentGiverSchema>;

/** Who is asked before content is shortened or removed: `ask` emits a question; the others decide without one. */
export const consentSchema = z.enum(['ask', ...consentChoiceSchema.options]);
export type Consent = z.infer<typeof consentSchema>;

/** Which operations need consent: those on the user's messages, or all that shorten or remove a message. */
export const consentForSchema = z.enum(['user-content', 'all']);
export type ConsentFor = z.infer<typeof consentForSchema>;

/**
 * One question for all operations of an evaluation. `preview` is the first 50 characters of a message, `summary` what
 * would replace it (empty: it would be removed), `reason` why.
 */
export const consentRequestSchema = z.object({
  items: z.readonly(
    z.array(
      z.object({
        operationId: z.string(),
        messageId: z.string(),
        role: z._default(roleSchema, 'user'),
        preview: z.string(),
        chars: z.int(),
        summary: z.string(),
        reason: z._default(z.string(), ''),
      }),
    ),
  ),
});
export type ConsentRequest = Readonly<z.infer<typeof consentRequestSchema>>;
