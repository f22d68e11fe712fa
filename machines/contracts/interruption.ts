import { z } from 'zod';

/** Why the phases were left other than by a decision of Yield. */
export const interruptionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['cancelled', 'interrupted']), reason: z.string() }),
  z.object({ kind: z.enum(['finished_by_user', 'deadline', 'budget', 'phase_failed', 'model_unavailable']) }),
]);
export type Interruption = Readonly<z.infer<typeof interruptionSchema>>;
