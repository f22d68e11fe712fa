import * as z from 'zod/mini';

/**
 * The stages at which an attempt or a phase can fail. `aborted`: the run stopped it, for example at a cancellation or a deadline
 * of the run. `unexpected` is a bug or an actor that threw: reported, never hidden.
 */
const failureStageSchema = z.enum([
  'transport',
  'extraction',
  'schema',
  'refinement',
  'transformation',
  'deadline',
  'aborted',
  'unexpected',
]);
export type FailureStage = z.infer<typeof failureStageSchema>;

/**
 * A failure as JSON, so it can be part of a context and a journal. `code` is stable. `retryable`: the same call may
 * succeed later. `retryAfterMs` is the wait that the server requested; `status` is the HTTP status.
 */
export const failureSchema = z.object({
  stage: failureStageSchema,
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.nullable(z.number().check(z.gte(0))),
  status: z.nullable(z.int()),
  issues: z.readonly(z.array(z.object({ path: z.string(), message: z.string() }))),
});
export type Failure = Readonly<z.infer<typeof failureSchema>>;

/** A failed phase and its cycle. */
export const phaseFailureSchema = z.object({
  phase: z.string(),
  cycle: z.int(),
  failure: failureSchema,
});
export type PhaseFailure = Readonly<z.infer<typeof phaseFailureSchema>>;
