import { z } from 'zod';
import { linkSchema, messageSchema } from './message.ts';
import { unitSchema } from './unit.ts';

/** What every operation carries: its id, the message it is about, why, and the numbers behind it [C3, U7]. */
const common = {
  id: z.string().min(1),
  target: z.string().min(1),
  reason: z.string().min(1),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
};

/**
 * The six context operations [C3], as data. `target` is a message id; for ADD it is the id of the message being added.
 * `metadata.requiresConsent` marks an operation on user content: it is not applied before the user agrees [U8].
 */
export const contextOperationSchema = z.discriminatedUnion('operation', [
  z.object({ operation: z.literal('ADD'), ...common, data: z.object({ message: messageSchema }) }),
  z.object({ operation: z.literal('TAG'), ...common, data: z.object({ tags: z.array(z.string()).min(1) }) }),
  z.object({ operation: z.literal('PRUNE'), ...common, data: z.object({}) }),
  z.object({
    operation: z.literal('TRANSFORM'),
    ...common,
    data: z.object({ transformation: z.literal('summarize'), content: z.string().min(1), maxChars: z.int().min(1) }),
  }),
  z.object({ operation: z.literal('LINK'), ...common, data: linkSchema }),
  z.object({ operation: z.literal('PRIORITIZE'), ...common, data: z.object({ importance: unitSchema }) }),
]);
export type ContextOperation = Readonly<z.infer<typeof contextOperationSchema>>;
