import * as z from 'zod/mini';
import { MAX_TIMER_MS } from './limits.ts';
import type { Repair } from './repair.ts';

/** Describes a capability to the chain: enough to request it, nothing to run it with. */
export const capabilityDescriptorSchema = z.object({
  name: z.string().check(z.minLength(1)),
  description: z.string().check(z.minLength(1)),
  /** JSON Schema of the arguments, an object. */
  arguments: z.record(z.string(), z.unknown()),
  /** Timeout of one run in milliseconds; null uses the run's limit. */
  timeoutMs: z.nullable(z.number().check(z.positive(), z.lte(MAX_TIMER_MS))),
  /** Only the client can run it: each call waits for a result from the user. */
  client: z.exactOptional(z.literal(true)),
});
export type CapabilityDescriptor = Readonly<z.infer<typeof capabilityDescriptorSchema>>;

/**
 * A request to run a capability, not yet resolved or validated. `arguments` is JSON text, as models write it. `toolCallId`: the
 * provider's id of a native tool call, empty if it gave none; absent if the call is not native.
 */
export const capabilityCallSchema = z.object({
  capability: z.string(),
  arguments: z.string(),
  toolCallId: z.exactOptional(z.string()),
});
export type CapabilityCall = Readonly<z.infer<typeof capabilityCallSchema>>;

/** Without `toolCallId`, because only native calls have one, and models do not write those as JSON. */
capabilityCallSchema._zod.toJSONSchema = () => ({
  type: 'object',
  properties: { capability: { type: 'string' }, arguments: { type: 'string' } },
  required: ['capability', 'arguments'],
});

/** Why a run of a capability failed: stable codes to branch on. The first seven mean that it did not run. */
export const capabilityFailureSchema = z.enum([
  'missing_name',
  'empty_name',
  'unknown_capability',
  'arguments_not_object',
  'arguments_misfit',
  'denied',
  'approval_timed_out',
  'threw',
  'timed_out',
  'aborted',
  'result_too_long',
]);
export type CapabilityFailure = z.infer<typeof capabilityFailureSchema>;

/** Parsed arguments of a request, or why they are invalid. `problem` is one printable line. `repaired`: how they were found. */
export type ParsedArguments =
  | { readonly ok: true; readonly arguments: Record<string, unknown>; readonly repaired?: readonly Repair[] }
  | { readonly ok: false; readonly code: CapabilityFailure; readonly problem: string };

/** Validated arguments, and whether the call must be approved before it runs; or why they are invalid. */
export type ArgumentsCheck =
  | (Extract<ParsedArguments, { ok: true }> & { readonly needsApproval: boolean })
  | Extract<ParsedArguments, { ok: false }>;

/** Who approves calls that need it: the user, who is asked, or a function of the program. */
export const approverSchema = z.enum(['user', 'program']);
export type Approver = z.infer<typeof approverSchema>;

/**
 * How an approval ended. `edited`: approved with other arguments. `responded`: the answer is the result of the call, which never starts.
 * `invalid`: the other arguments are invalid, so a new question follows.
 */
export const approvalDecisionSchema = z.enum(['approved', 'edited', 'responded', 'denied', 'timed_out', 'invalid']);
export type CallApproval = z.infer<typeof approvalDecisionSchema>;

/**
 * An answer to the question about one call. With `arguments`, the call is approved with these in place of its own. `respond` gives the
 * `output` of the call, which then does not run.
 */
export interface ApprovalAnswer {
  readonly questionId: string;
  readonly digest: string;
  readonly decision: 'approve' | 'deny' | 'respond';
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly output?: string | undefined;
  readonly reason?: string | undefined;
  readonly by?: 'program';
}

/**
 * The result of one call. A capability that throws gives `success: false`, `code` and `error`. `id` is unique in the run of the
 * chain; null for a call that could not be run.
 */
export const capabilityResultSchema = z.object({
  id: z._default(z.nullable(z.string()), null),
  capability: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  success: z.boolean(),
  output: z.string(),
  code: z.nullable(capabilityFailureSchema),
  error: z.nullable(z.string()),
  /** The session that the request belongs to. */
  sessionId: z.nullable(z.string()),
  /** True if the decider replaced the capability's output with its own. */
  synthesized: z.boolean(),
  /** Null if the run was aborted before it reported a start. */
  startedAtMs: z.nullable(z.number()),
  durationMs: z.number().check(z.gte(0)),
  /**
   * For a native tool call: the provider's id, empty if it gave none, and the number of results before its step. `arguments` is what the
   * model wrote, if that was an object that could not be used.
   */
  toolCall: z.exactOptional(
    z.object({ id: z.string(), step: z.int().check(z.gte(0)), arguments: z.exactOptional(z.string()) }),
  ),
  /** The start of the arguments as the model wrote them, if they are invalid and `toolCall` does not contain them. */
  written: z.exactOptional(z.string()),
});
export type CapabilityResult = Readonly<z.infer<typeof capabilityResultSchema>>;

/** What a capability run returns; the loop adds the ids of the call. */
export type CapabilityRunResult = Omit<CapabilityResult, 'id' | 'toolCall' | 'written'>;

/**
 * The reply of a continuation decider: done, with an optional output that replaces the last result's, or the calls of the next
 * step; `next` is empty if the step is invalid.
 */
export type Continuation =
  | { readonly done: true; readonly finalOutput: string | null }
  | { readonly done: false; readonly next: readonly CapabilityCall[] };

/**
 * Why the capability loop ended. `one_round`: nothing decides on another round. `rounds_ended`: Yield asked for tools after the only
 * round, or after a round without calls.
 */
export const stopReasonSchema = z.enum([
  'no_reply',
  'nothing_to_run',
  'done',
  'one_round',
  'rounds_ended',
  'limit_reached',
  'same_call_repeated',
  'invalid_next_step',
  'decider_failed',
  'budget_exhausted',
  'aborted',
]);
export type StopReason = z.infer<typeof stopReasonSchema>;

/** Who decides whether to continue after a round of calls: no one, a function, or the model. */
export const deciderKindSchema = z.enum(['none', 'function', 'model']);
export type DeciderKind = z.infer<typeof deciderKindSchema>;

/**
 * What a session remembers of one request's capability runs: the user's message once, then one entry per run with
 * shortened output.
 */
export const memoryEntrySchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({ role: z.literal('assistant'), capability: z.string(), success: z.boolean(), summary: z.string() }),
]);
export type MemoryEntry = Readonly<z.infer<typeof memoryEntrySchema>>;

/**
 * The input of the model as continuation decider: the steps so far, the available capabilities, and how many runs are
 * left.
 */
export const continuationInputSchema = z.object({
  request: z.string().check(z.minLength(1)),
  /** The answer from before any run. */
  response: z.string(),
  steps: z.readonly(
    z.array(
      z.object({
        capability: z.string(),
        arguments: z.string(),
        success: z.boolean(),
        output: z.string(),
        /** For a native tool call: its id, which no other step has, and the number of the step that it is part of. */
        toolCall: z.exactOptional(z.object({ id: z.string(), step: z.int().check(z.gte(0)) })),
      }),
    ),
  ),
  /** In a very long loop: how often each capability ran before these steps. */
  earlier: z.readonly(z.array(z.object({ capability: z.string(), runs: z.int(), failed: z.int() }))),
  runsLeft: z.int().check(z.gte(0)),
  capabilities: z.readonly(z.array(capabilityDescriptorSchema)),
});
export type ContinuationInput = Readonly<z.infer<typeof continuationInputSchema>>;

/** The model's reply as decider: done, with an optional final output, or the calls of the next step. */
export const continuationReplySchema = z.object({
  done: z.boolean(),
  finalOutput: z.nullable(z.string()),
  next: z.readonly(z.array(capabilityCallSchema)),
});
