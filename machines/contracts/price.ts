import { z } from 'zod';

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
