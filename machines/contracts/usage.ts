import * as z from 'zod/mini';

/**
 * Tokens of one model call. `estimated`: the provider reported no usage, so characters / 4 were counted. Three numbers are parts of
 * the others, if the provider reports them: `cachedInputTokens` of the input were read from its cache, `cacheWriteTokens` of the input were
 * written to it, and `reasoningTokens` of the output were reasoning.
 */
export const tokenUsageSchema = z.object({
  inputTokens: z.int().check(z.gte(0)),
  outputTokens: z.int().check(z.gte(0)),
  cachedInputTokens: z.exactOptional(z.int().check(z.gte(0))),
  cacheWriteTokens: z.exactOptional(z.int().check(z.gte(0))),
  reasoningTokens: z.exactOptional(z.int().check(z.gte(0))),
  estimated: z.boolean(),
});
export type TokenUsage = Readonly<z.infer<typeof tokenUsageSchema>>;

/**
 * Usage of a run so far, failed attempts included. `cost` is in the currency of the price table; null if the price of a
 * called model is unknown. `savedByCache`: how much more the run would have cost without the cache, which is negative if writing to it cost
 * more than reading from it saved; absent if nothing.
 */
export const usageSchema = z.extend(tokenUsageSchema, {
  modelCalls: z.int().check(z.gte(0)),
  cost: z.nullable(z.number().check(z.gte(0))),
  savedByCache: z.exactOptional(z.number()),
});
export type Usage = Readonly<z.infer<typeof usageSchema>>;

/**
 * Price of a model per million tokens, in the currency of its table. `cachedInputPerMillion` is that of input tokens read from the
 * provider's cache; without it, they cost as much as the others. `cacheWritePerMillion` is that of input tokens written to it; without it,
 * they cost 1.25 times as much as the others, because the providers that report them charge that for their shortest cache.
 */
export const priceSchema = z.strictObject({
  inputPerMillion: z.number().check(z.gte(0)),
  cachedInputPerMillion: z.exactOptional(z.number().check(z.gte(0))),
  cacheWritePerMillion: z.exactOptional(z.number().check(z.gte(0))),
  outputPerMillion: z.number().check(z.gte(0)),
});
export type Price = Readonly<z.infer<typeof priceSchema>>;

/**
 * Prices by model id, in one currency (ISO 4217, for example EUR). The table is the user's: nothing is looked up, since
 * prices change.
 */
export const priceTableSchema = z.strictObject({
  currency: z.string().check(z.trim(), z.minLength(1)),
  models: z.record(z.string(), priceSchema),
});
export type PriceTable = Readonly<z.infer<typeof priceTableSchema>>;
