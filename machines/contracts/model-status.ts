import * as z from 'zod/mini';

/** The reply form of a model that answers in prose: text that may contain JSON. */
export const PROSE_FORM = 3;

/** What a run has learned about one of its models. */
export const modelStatusSchema = z.object({
  /** The reply form to request: 0 is the configured one, 1 and 2 the others, 3 text that may be prose. */
  form: z.int().check(z.gte(0), z.lte(PROSE_FORM)),
  /** Whether a reply in this form contained JSON that had the structure of its schema or was valid. */
  repliesInJson: z.boolean(),
  /** Calls in a row that hung: no first byte within `firstChunkMs`, or no further one within `chunkMs`. */
  hungCalls: z.int().check(z.gte(0)),
  /** Attempts in a row that skipped the model because it hung. */
  passedOver: z.int().check(z.gte(0)),
});
export type ModelStatus = Readonly<z.infer<typeof modelStatusSchema>>;

/** The status of a model that has not been called yet. */
export const NEW_MODEL: ModelStatus = { form: 0, repliesInJson: false, hungCalls: 0, passedOver: 0 };

export function newModels(fallbacks: number): readonly ModelStatus[] {
  return Array.from({ length: fallbacks + 1 }, () => NEW_MODEL);
}

/**
 * What a call showed about its model, in this order: no JSON, or JSON that ignores the schema, so the next reply form is tried; JSON in
 * that form; prose in every form; too many hung calls in a row; a reply after those.
 */
export const modelChangeSchema = z.enum(['without_json', 'json', 'prose', 'unavailable', 'available']);
export type ModelChange = z.infer<typeof modelChangeSchema>;
