import { z } from 'zod';

const textSchema = z.object({ content: z.string().nullish(), refusal: z.string().nullish() });

/**
 * One `chat.completion.chunk` as far as it is read; whatever else a server adds is ignored. A server that does not stream sends
 * one `chat.completion` with `message` in the place of `delta`. Usage that is incomplete counts as absent.
 */
const chunkSchema = z.object({
  object: z.unknown().optional(),
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: textSchema.nullish(),
        message: textSchema.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z
    .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
});
export type Chunk = z.infer<typeof chunkSchema>;

/** An error that the server reported in a reply that had begun well; `error` is what it sent. */
class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly error: unknown;

  constructor(error: unknown) {
    super(typeof error === 'string' ? error : JSON.stringify(error));
    this.error = error;
  }
}

/** @throws ReportedError for an error object, ZodError for what is no chunk. */
export function parseChunk(data: unknown): Chunk {
  const chunk = chunkSchema.parse(data);
  if (chunk.error) throw new ReportedError(chunk.error);
  if (chunk.object === 'error') throw new ReportedError(data);
  return chunk;
}
