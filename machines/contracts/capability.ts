import { z } from 'zod';
import { MAX_TIMER_MS } from './limits.ts';

/** What the chain knows of a capability: enough to ask for it, nothing to run it with [R10]. */
export const capabilityDescriptorSchema = z.object({
  name: z.string().min(1),
  description: z.string().min(1),
  /** JSON Schema of the arguments, an object. */
  arguments: z.record(z.string(), z.unknown()),
  /** How long one run of it may take, in milliseconds; null is what the limits say. */
  timeoutMs: z.number().positive().max(MAX_TIMER_MS).nullable(),
});
export type CapabilityDescriptor = Readonly<z.infer<typeof capabilityDescriptorSchema>>;

/** One wish to run a capability; not yet resolved or validated. `arguments` is JSON text, as models give it. */
export const capabilityCallSchema = z.object({ capability: z.string(), arguments: z.string() });
export type CapabilityCall = Readonly<z.infer<typeof capabilityCallSchema>>;

/** Why a run of a capability failed: stable, to branch on. The first five are wishes that could not be run [R5]. */
export const capabilityFailureSchema = z.enum([
  'missing_name',
  'empty_name',
  'unknown_capability',
  'arguments_not_object',
  'arguments_misfit',
  'threw',
  'timed_out',
  'broken_off',
  'result_too_long',
]);
export type CapabilityFailure = z.infer<typeof capabilityFailureSchema>;

/** What a wish came to before it runs [R2]. `arguments` is JSON, as it was parsed; `problem` is one printable line. */
export type ArgumentsCheck =
  | { readonly ok: true; readonly arguments: Record<string, unknown> }
  | { readonly ok: false; readonly code: CapabilityFailure; readonly problem: string };

/** What one run of a capability came to [R2, R7]. A capability that throws gives `success: false`, `code` and `error`. */
export const capabilityResultSchema = z.object({
  capability: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  success: z.boolean(),
  output: z.string(),
  code: capabilityFailureSchema.nullable(),
  error: z.string().nullable(),
  /** The session that the request belongs to. */
  sessionId: z.string().nullable(),
  /** The decider put its own output in place of the capability's [R5]. */
  synthesized: z.boolean(),
  /** Null where the run was broken off before it could say. */
  startedAtMs: z.number().nullable(),
  durationMs: z.number().min(0),
});
export type CapabilityResult = Readonly<z.infer<typeof capabilityResultSchema>>;

/**
 * What a continuation decider said [R1, R5]: done, perhaps with an output in place of the last result's, or
 * the next step; that is null where it was said in a way that is no step at all.
 */
export type Continuation =
  | { readonly done: true; readonly finalOutput: string | null }
  | { readonly done: false; readonly next: CapabilityCall | null };

/** Why the capability loop ended [R3, R5]. */
export const stopReasonSchema = z.enum([
  'no_reply',
  'nothing_to_run',
  'done',
  'no_decider',
  'limit_reached',
  'invalid_next_step',
  'decider_failed',
  'budget_exhausted',
  'broken_off',
]);
export type StopReason = z.infer<typeof stopReasonSchema>;

/** Who says what comes after a run [R1, R6]: nobody, a function (the default is always done), or the model. */
export const deciderKindSchema = z.enum(['none', 'function', 'model']);
export type DeciderKind = z.infer<typeof deciderKindSchema>;

/**
 * What a session remembers of one request's capability runs [R4]: the user's message once, then one entry of the assistant's for
 * each run, its output shortened.
 */
export const memoryEntrySchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({ role: z.literal('assistant'), capability: z.string(), success: z.boolean(), summary: z.string() }),
]);
export type MemoryEntry = Readonly<z.infer<typeof memoryEntrySchema>>;
export type RememberedRun = Extract<MemoryEntry, { role: 'assistant' }>;

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
