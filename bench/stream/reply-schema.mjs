import { z } from 'zod';

const unit = z.number().min(0).max(1);

/** What the long reply is held against, all of it. */
export const replySchema = z.object({
  answer: z.string(),
  confidence: unit,
  taskComplete: z.boolean(),
  informationSufficiency: unit,
  needsTools: z.boolean(),
  proposedPhase: z.string().nullable(),
  rationale: z.string(),
  usedMessageIds: z.array(z.string()),
  sections: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      text: z.string(),
      score: unit,
      settled: z.boolean(),
      next: z.string().nullable(),
      tags: z.array(z.string()),
    }),
  ),
});
