import { z } from 'zod';
import { roleSchema } from '../message.ts';
import { unitSchema } from '../unit.ts';

/** What the model says in Understanding [U1]: what is known by now, and how relevant single messages are. */
export const understandingReplySchema = z.object({
  integrated: z.string(),
  assessments: z.array(z.object({ messageId: z.string(), relevance: unitSchema, reason: z.string() })),
});
export type UnderstandingReply = Readonly<z.infer<typeof understandingReplySchema>>;

/**
 * Size of the context before and after an evaluation [U13]. `estimated`: tokens are characters / 4, and not counted by the model's
 * tokenizer. `tokensOver` and `messagesOver` are what it is over its limits even with everything gone that may go without asking.
 */
export const contextStatisticsSchema = z.object({
  messagesBefore: z.int(),
  messagesAfter: z.int(),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
  tokensAllowed: z.int(),
  estimated: z.boolean(),
  pruned: z.int(),
  summarised: z.int(),
  tokensOver: z.int(),
  messagesOver: z.int(),
});
export type ContextStatistics = Readonly<z.infer<typeof contextStatisticsSchema>>;

/** One message that was pruned or summarised, and why [U13]. `relevance` is null where the user alone decided. */
export const pruningSchema = z.object({
  operationId: z.string(),
  operation: z.enum(['PRUNE', 'TRANSFORM']),
  messageId: z.string(),
  role: roleSchema,
  preview: z.string(),
  tokens: z.int(),
  relevance: z.number().nullable(),
  reason: z.string(),
});
export type Pruning = Readonly<z.infer<typeof pruningSchema>>;

export const understandingResultSchema = z.object({
  phase: z.literal('understanding'),
  step: z.int().min(1),
  reply: understandingReplySchema,
  statistics: contextStatisticsSchema,
  pruningLog: z.array(pruningSchema).readonly(),
  /** What could not be measured, in one line. */
  problem: z.string().nullable(),
});
export type UnderstandingResult = Readonly<z.infer<typeof understandingResultSchema>>;
