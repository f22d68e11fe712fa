import { z } from 'zod';
import { unitSchema } from '../unit.ts';

/**
 * What the model says in Yield [Y1, Y3]: the answer as it stands and how good it is. It proposes; the chart's guards decide.
 * `proposedPhase` is a free string on purpose: a proposal that is no phase must fall back, not fail validation [Y5].
 */
export const yieldReplySchema = z.object({
  answer: z.string(),
  confidence: unitSchema,
  taskComplete: z.boolean(),
  informationSufficiency: unitSchema,
  needsTools: z.boolean(),
  proposedPhase: z.string().nullable(),
  rationale: z.string(),
  usedMessageIds: z.array(z.string()),
});
export type YieldReply = Readonly<z.infer<typeof yieldReplySchema>>;

export const yieldResultSchema = z.object({ phase: z.literal('yield'), step: z.int().min(1), reply: yieldReplySchema });
export type YieldResult = Readonly<z.infer<typeof yieldResultSchema>>;
