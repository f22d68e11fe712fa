import { z } from 'zod';
import { unitSchema } from '../unit.ts';

/** What the model says in Understanding [U1]: what is known by now, and how relevant single messages are. */
export const understandingReplySchema = z.object({
  integrated: z.string(),
  assessments: z.array(z.object({ messageId: z.string(), relevance: unitSchema, reason: z.string() })),
});
export type UnderstandingReply = Readonly<z.infer<typeof understandingReplySchema>>;

/** Size of the context before and after an evaluation [U13]. Tokens are estimated at four characters each. */
const contextStatisticsSchema = z.object({
  messagesBefore: z.int(),
  messagesAfter: z.int(),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
  tokensAllowed: z.int(),
});
export type ContextStatistics = Readonly<z.infer<typeof contextStatisticsSchema>>;

export const understandingResultSchema = z.object({
  phase: z.literal('understanding'),
  step: z.int().min(1),
  reply: understandingReplySchema,
  statistics: contextStatisticsSchema,
});
export type UnderstandingResult = Readonly<z.infer<typeof understandingResultSchema>>;
