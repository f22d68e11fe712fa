import { z } from 'zod';
import { retrievalSchema } from '../passage.ts';
import { unitSchema } from '../unit.ts';

/** What the model says in Experience [C5]: what the passages hold for the request, and what is still missing. */
export const experienceReplySchema = z.object({
  summary: z.string(),
  relevantPassageIds: z.array(z.string()),
  missing: z.array(z.string()),
  confidence: unitSchema,
});
export type ExperienceReply = Readonly<z.infer<typeof experienceReplySchema>>;

/** `sourceFailure` names a dead source: the phase went on without it. */
export const experienceResultSchema = z.object({
  phase: z.literal('experience'),
  step: z.int().min(1),
  reply: experienceReplySchema,
  retrieval: retrievalSchema,
  sourceFailure: z.string().nullable(),
});
export type ExperienceResult = Readonly<z.infer<typeof experienceResultSchema>>;
