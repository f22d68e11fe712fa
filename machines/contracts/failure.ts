import { z } from 'zod';

/** Where an attempt can fail [A10]. `unexpected` is a bug or a port that threw: reported, never hidden. */
export const failureStageSchema = z.enum([
  'transport',
  'extraction',
  'schema',
  'refinement',
  'transformation',
  'deadline',
  'unexpected',
]);
export type FailureStage = z.infer<typeof failureStageSchema>;

/**
 * A failure as data: it survives JSON, so it can stand in a context and in the journal. `code` is stable; `retryable` is
 * whether the same call may succeed later; `retryAfterMs` is what the server asked for; `status` is the HTTP status.
 */
export const failureSchema = z.object({
  stage: failureStageSchema,
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.number().min(0).nullable(),
  status: z.int().nullable(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).readonly(),
});
export type Failure = Readonly<z.infer<typeof failureSchema>>;

/** A failed phase: what it tried, and how often within this cycle. */
export const phaseFailureSchema = z.object({
  phase: z.string(),
  cycle: z.int(),
  failure: failureSchema,
});
export type PhaseFailure = Readonly<z.infer<typeof phaseFailureSchema>>;
