import * as z from 'zod';

/** Text; missing or invalid text becomes empty. */
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

/** An array whose entries are not checked: a hostile one may have millions. */
const list = z.custom<readonly unknown[]>(Array.isArray);

/** No real reply has more calls, and no real chunk more choices. */
export const MAX_CALLS = 1_000;
const MAX_CHOICES = 1_000;

const deltaSchema = z.object({
  content: z.union([z.string(), list]).nullish(),
  refusal: looseText,
  reasoning_content: looseText,
  reasoning: looseText,
  tool_calls: z.preprocess((calls) => firstOf(calls, MAX_CALLS), z.array(toolCallSchema).nullish().catch(null)),
});
export type Delta = z.infer<typeof deltaSchema>;

const usageSchema = z
  .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
  .nullish()
  .catch(null);

/**
 * The members of a `chat.completion.chunk` that are read. A server that does not stream sends one `chat.completion` with `message` instead
 * of `delta`. Incomplete usage counts as missing; some servers (Moonshot) put it into the choice. Only content of an unknown type is an
 * error, because it would be lost.
 */
const chunkSchema = z.object({
  object: z.unknown().optional(),
  error: z.unknown().optional(),
  choices: z.preprocess(
    ownChoice,
    z
      .object({
        delta: deltaSchema.nullish(),
        message: deltaSchema.nullish(),
        finish_reason: looseText,
        usage: usageSchema,
      })
      .nullish(),
  ),
  usage: usageSchema,
});

/** One chunk, with the only choice that is read. */
export type Chunk = Omit<z.infer<typeof chunkSchema>, 'choices'> & {
  readonly choice: z.infer<typeof chunkSchema>['choices'];
};

function firstOf(values: unknown, most: number): unknown {
  return Array.isArray(values) ? values.slice(0, most) : values;
}

/** Returns the choice with the index 0 or without one: some servers send several although one is requested. */
function ownChoice(choices: unknown): unknown {
  if (!Array.isArray(choices)) return choices;
  const isOwn = (choice: unknown): boolean => choice !== null && ((choice as { index?: unknown }).index ?? 0) === 0;
  return choices.slice(0, MAX_CHOICES).find(isOwn);
}

/** An error that the server reported within a stream; `error` is what it sent. */
class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly error: unknown;

  constructor(error: unknown) {
    super(typeof error === 'string' ? error : JSON.stringify(error));
    this.error = error;
  }
}

/** @throws ReportedError for an error object, ZodError for anything that is not a chunk. */
export function parseChunk(data: unknown): Chunk {
  const { choices: choice, ...chunk } = chunkSchema.parse(data);
  if (chunk.error) throw new ReportedError(chunk.error);
  if (chunk.object === 'error') throw new ReportedError(data);
  return { ...chunk, choice };
}
