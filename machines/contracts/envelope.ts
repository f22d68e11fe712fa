import { z } from 'zod';
import { contextOperationSchema } from './context-operation.ts';
import { phaseSchema } from './phase.ts';

/**
 * What one phase hands to the next [C2, C3]: its content, and the operations that it appended. They apply when the next phase
 * has processed the content, so that a phase that fails has changed nothing; the next phase already sees them as applied.
 */
export const envelopeSchema = z.object({
  phase: phaseSchema.nullable(),
  content: z.string(),
  operations: z.array(contextOperationSchema).readonly(),
});
export type Envelope = Readonly<z.infer<typeof envelopeSchema>>;
