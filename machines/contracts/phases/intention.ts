import { z } from 'zod';
import { unitSchema } from '../unit.ts';

/** What the model says in Intention [C6]. `alignment` rates messages by how much they serve the goal. */
export const intentionReplySchema = z.object({
  goal: z.string(),
  alternatives: z.array(z.string()),
  clarity: unitSchema,
  unclearIntent: z.boolean(),
  alignment: z.array(z.object({ messageId: z.string(), score: unitSchema })),
});
export type IntentionReply = Readonly<z.infer<typeof intentionReplySchema>>;

export const intentionResultSchema = z.object({
  phase: z.literal('intention'),
  step: z.int().min(1),
  reply: intentionReplySchema,
  /** What the request both wants and does not want, in words. */
  conflicts: z.array(z.string()).readonly(),
});
export type IntentionResult = Readonly<z.infer<typeof intentionResultSchema>>;
