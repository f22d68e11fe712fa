import { z } from 'zod';

/** What a model is given to summarise: texts of messages, each with the most characters that its summary may have. */
export const summaryInputSchema = z.object({
  request: z.string().min(1),
  texts: z.array(z.object({ messageId: z.string(), content: z.string(), maxChars: z.int().min(1) })).readonly(),
});
export type SummaryInput = Readonly<z.infer<typeof summaryInputSchema>>;

/** What a model says of them. A summary that is too long or missing is made up for by an extract. */
export const summaryReplySchema = z.object({
  summaries: z.array(z.object({ messageId: z.string(), summary: z.string() })),
});
export type SummaryReply = Readonly<z.infer<typeof summaryReplySchema>>;
