import { z } from 'zod';
import { capabilityCallSchema, capabilityResultSchema, memoryEntrySchema, stopReasonSchema } from '../capability.ts';
import { unitSchema } from '../unit.ts';

/** What the model says in Action [C4]: an answer from what is there now, and the capability it would run, if any. */
export const actionReplySchema = z.object({
  response: z.string(),
  confidence: unitSchema,
  call: capabilityCallSchema.nullable(),
});
export type ActionReply = Readonly<z.infer<typeof actionReplySchema>>;

/** What Action comes to: the reply and what the capabilities it led to gave. */
export const actionResultSchema = z.object({
  phase: z.literal('action'),
  step: z.int().min(1),
  reply: actionReplySchema,
  results: z.array(capabilityResultSchema).readonly(),
  stopReason: stopReasonSchema,
  /** What a session remembers of it [R4]. */
  memory: z.array(memoryEntrySchema).readonly(),
});
export type ActionResult = Readonly<z.infer<typeof actionResultSchema>>;
