import { z } from 'zod';

/** A text that may be missing or odd, which is the same as empty. */
const looseText = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? '');

const looseFunction = z
  .object({ name: looseText, arguments: z.unknown() })
  .nullish()
  .catch(null)
  .transform((called) => called ?? { name: '', arguments: null });

const toolCallSchema = z
  .object({ index: z.int().nullish().catch(null), id: looseText, function: looseFunction })
  .nullable()
  .catch(null);
export type ToolCallEntry = NonNullable<z.infer<typeof toolCallSchema>>;

const saidSchema = z.object({
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  refusal: looseText,
  reasoning_content: looseText,
  reasoning: looseText,
  tool_calls: z.array(toolCallSchema).nullish().catch(null),
});
export type Said = z.infer<typeof saidSchema>;

const usageSchema = z
  .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
  .nullish()
  .catch(null);

/**
 * One `chat.completion.chunk` as far as it is read; whatever else a server adds is ignored. A server that does not stream sends
 * one `chat.completion` with `message` in the place of `delta`. Usage that is incomplete counts as absent; some servers (Moonshot)
 * put it inside the choice. Only text of a type that cannot be read is an error, as it would be lost.
 */
const chunkSchema = z.object({
  object: z.unknown().optional(),
  error: z.unknown().optional(),
  choices: z
    .array(
      z
        .object({
          delta: saidSchema.nullish(),
          message: saidSchema.nullish(),
          finish_reason: looseText,
          usage: usageSchema,
        })
        .nullable(),
    )
    .nullish(),
  usage: usageSchema,
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
