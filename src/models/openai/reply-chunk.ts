import * as z from 'zod/mini';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';

export interface ChunkContent {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly (ToolCallEntry | null)[];
}

/** One chunk of a reply in either API. `usage` replaces that of earlier chunks; `error` ends the reply. */
export interface ReplyChunk {
  readonly content: ChunkContent | null;
  readonly reason: FinishReason | null;
  readonly usage: TokenUsage | null;
  readonly error: Error | null;
}

/** Reads the JSON values of one reply, in order. Throws a ZodError for a value that does not belong to its API. */
export type ReplyReader = (value: unknown) => ReplyChunk;

/** Reads an invalid value as null; a missing one stays undefined. */
export const orNull = <Schema extends z.ZodMiniType>(schema: Schema) => z.catch(z.nullish(schema), null);

export const textOrEmpty = z.pipe(
  orNull(z.string()),
  z.transform((text) => text ?? ''),
);

export const functionOrEmpty = z.pipe(
  orNull(z.object({ name: textOrEmpty, arguments: z.optional(z.unknown()) })),
  z.transform((called) => called ?? { name: '', arguments: null }),
);

export const toolCallSchema = z.catch(
  z.nullable(z.object({ index: orNull(z.int()), id: textOrEmpty, function: functionOrEmpty })),
  null,
);
export type ToolCallEntry = NonNullable<z.infer<typeof toolCallSchema>>;

export const countOrNull = orNull(z.int().check(z.gte(0)));

/** What a server reports about the tokens of a reply. */
export type ReportedCounts = Readonly<Record<'input' | 'output' | 'cached' | 'written' | 'reasoning', Count>>;
type Count = z.infer<typeof countOrNull>;

/** Returns the usage that a server reports; null unless it has both totals. Missing counts of parts are left out. */
export function tokenUsage(counts: ReportedCounts | null): TokenUsage | null {
  const { input, output, written, reasoning } = counts ?? {};
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  const cached = typeof counts?.cached === 'number' ? Math.min(counts.cached, input) : undefined;
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(typeof written === 'number' && { cacheWriteTokens: Math.min(written, input - (cached ?? 0)) }),
    ...(typeof reasoning === 'number' && { reasoningTokens: Math.min(reasoning, output) }),
    estimated: false,
  };
}

/** No real reply has more calls. */
export const MAX_CALLS = 1_000;

/** An array whose entries are not checked: a hostile one may have millions. */
export const uncheckedList = z.custom<readonly unknown[]>(Array.isArray);

export const uncheckedObject = z.custom<object>((value) => typeof value === 'object' && value !== null);

/** `error` is what the server sent. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly error: unknown;

  constructor(error: unknown) {
    super(typeof error === 'string' ? error : JSON.stringify(error));
    this.error = error;
  }
}
