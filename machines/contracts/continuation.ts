import { z } from 'zod';
import { capabilityCallSchema, capabilityDescriptorSchema } from './capability.ts';

/** What the model is told where it is the continuation decider [R1]: the steps so far, what can be run, and how often still. */
export const continuationInputSchema = z.object({
  request: z.string().min(1),
  /** What was answered before anything ran. */
  response: z.string(),
  steps: z
    .array(z.object({ capability: z.string(), arguments: z.string(), success: z.boolean(), output: z.string() }))
    .readonly(),
  /** Of a very long loop: how often each capability ran before those steps. */
  earlier: z.array(z.object({ capability: z.string(), runs: z.int(), failed: z.int() })).readonly(),
  runsLeft: z.int().min(0),
  capabilities: z.array(capabilityDescriptorSchema).readonly(),
});
export type ContinuationInput = Readonly<z.infer<typeof continuationInputSchema>>;

/** What the model says as the decider: done, perhaps with an output of its own, or the next step. */
export const continuationReplySchema = z.object({
  done: z.boolean(),
  finalOutput: z.string().nullable(),
  next: capabilityCallSchema.nullable(),
});
export type ContinuationReply = Readonly<z.infer<typeof continuationReplySchema>>;
