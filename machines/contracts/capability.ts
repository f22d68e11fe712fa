import { z } from 'zod';

/** What the chain knows of a capability: enough to ask for it, nothing to run it with [R10]. */
export const capabilityDescriptorSchema = z.object({
  name: z.string().min(1),
  description: z.string().min(1),
  /** JSON Schema of the arguments, an object. */
  arguments: z.record(z.string(), z.unknown()),
});
export type CapabilityDescriptor = Readonly<z.infer<typeof capabilityDescriptorSchema>>;

/** One wish to run a capability; not yet resolved or validated. `arguments` is JSON text, as models give it. */
export const capabilityCallSchema = z.object({ capability: z.string(), arguments: z.string() });
export type CapabilityCall = Readonly<z.infer<typeof capabilityCallSchema>>;

/** What one run of a capability came to [R2, R7]. A capability that throws gives `success: false` and `error`. */
export const capabilityResultSchema = z.object({
  capability: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  success: z.boolean(),
  output: z.string(),
  error: z.string().nullable(),
  /** The decider put its own output in place of the capability's [R5]. */
  synthesized: z.boolean(),
  /** Null where the run was broken off before it could say. */
  startedAtMs: z.number().nullable(),
  durationMs: z.number().min(0),
});
export type CapabilityResult = Readonly<z.infer<typeof capabilityResultSchema>>;

/** What a continuation decider says [R1, R5]: done, perhaps with an output in place of the last result's, or the next step. */
export const continuationSchema = z.discriminatedUnion('done', [
  z.object({ done: z.literal(true), finalOutput: z.string().nullable().default(null) }),
  z.object({ done: z.literal(false), next: capabilityCallSchema }),
]);
export type Continuation = Readonly<z.infer<typeof continuationSchema>>;

/** Why the capability loop ended [R3, R5]. */
export const stopReasonSchema = z.enum([
  'nothing_to_run',
  'done',
  'no_decider',
  'limit_reached',
  'invalid_next_step',
  'decider_failed',
]);
export type StopReason = z.infer<typeof stopReasonSchema>;
