import { z } from 'zod';
import { limitsSchema } from './budget.ts';
import { capabilityDescriptorSchema, deciderKindSchema } from './capability.ts';
import { messageSchema } from './message.ts';
import { phaseSchema } from './phase.ts';
import { priceSchema } from './price.ts';
import { recursionStateSchema } from './recursion.ts';
import { thresholdsSchema } from './thresholds.ts';

/** What a run is started with, and what its journal begins with. Defaults are filled in at the edge: here nothing is optional. */
export const chainInputSchema = z.object({
  runId: z.string().min(1),
  request: z.string(),
  origin: phaseSchema,
  mode: recursionStateSchema.shape.mode,
  /** Milliseconds since the epoch. */
  startedAtMs: z.number(),
  limits: limitsSchema,
  thresholds: thresholdsSchema,
  /** Of the model that takes the least. */
  contextWindowTokens: z.number().positive(),
  /** How many models stand behind the first, to take over where it has no retry left. */
  fallbackModels: z.int().min(0),
  capabilities: z.array(capabilityDescriptorSchema.readonly()).readonly(),
  /** Who says what comes after a capability's result. */
  decider: deciderKindSchema,
  /** The session that the request belongs to; null for one by itself. */
  sessionId: z.string().nullable(),
  /** What each model costs, the first and its fallbacks in order, in `currency`; null where that is not known. */
  prices: z.array(priceSchema.readonly().nullable()).readonly(),
  currency: z.string().nullable(),
  /** Whether there is anything to search: an answer is then held against what was found. */
  hasDocuments: z.boolean(),
  /** Whether messages and answers can be compared by their embeddings. */
  hasEmbeddings: z.boolean(),
  /** Earlier turns that the request builds on; ids must differ from each other. */
  messages: z.array(messageSchema.readonly()).readonly(),
});
export type ChainInput = Readonly<z.infer<typeof chainInputSchema>>;
