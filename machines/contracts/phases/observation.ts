import { z } from 'zod';
import { unitSchema } from '../unit.ts';

/** What the model says in Observation [C7]: what is worth keeping, and what belongs together. Ids are message ids. */
export const observationReplySchema = z.object({
  insights: z.array(z.string()),
  undigested: z.boolean(),
  entities: z.array(z.object({ name: z.string(), messageIds: z.array(z.string()) })),
  connections: z.array(z.object({ from: z.string(), to: z.string(), relation: z.string(), strength: unitSchema })),
  importance: z.array(z.object({ messageId: z.string(), score: unitSchema })),
});
export type ObservationReply = Readonly<z.infer<typeof observationReplySchema>>;

export const observationResultSchema = z.object({
  phase: z.literal('observation'),
  step: z.int().min(1),
  reply: observationReplySchema,
  /** Connections that contradict a link that stands: reported, never overwritten. */
  conflicts: z.array(z.string()).readonly(),
});
export type ObservationResult = Readonly<z.infer<typeof observationResultSchema>>;
