import { z } from 'zod';

/** Tokens of one model call. `estimated`: the provider gave no usage, so characters / 4 was counted. */
export const tokenUsageSchema = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  estimated: z.boolean(),
});
export type TokenUsage = Readonly<z.infer<typeof tokenUsageSchema>>;

/**
 * What a run has used so far; failed attempts count [A11]. `cost` is in the currency of the price table; null where the price of a
 * model that was called is not known.
 */
export const usageSchema = tokenUsageSchema.extend({ modelCalls: z.int().min(0), cost: z.number().min(0).nullable() });
export type Usage = Readonly<z.infer<typeof usageSchema>>;

/** What a model costs: an amount for a million tokens, in the currency of its table. */
export const priceSchema = z.strictObject({
  inputPerMillion: z.number().min(0),
  outputPerMillion: z.number().min(0),
});
export type Price = Readonly<z.infer<typeof priceSchema>>;

/** Prices by model id, in one currency (ISO 4217, say EUR). Nothing here is looked up: prices change, the table is the user's. */
export const priceTableSchema = z.strictObject({
  currency: z.string().trim().min(1),
  models: z.record(z.string(), priceSchema),
});
export type PriceTable = Readonly<z.infer<typeof priceTableSchema>>;
