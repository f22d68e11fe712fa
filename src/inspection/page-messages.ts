import * as z from 'zod/mini';
import { toolTurnSchema } from '../../machines/contracts/journal.ts';
import { parseJson } from '../internal/json-text.ts';
import type { NeedsTrust, RunAction } from './wire.ts';

const MAX_ID_CHARS = 4_096;

const MAX_REPAIRED = 10_000;

const runId = z.string().check(z.maxLength(MAX_ID_CHARS));
const id = z.int().check(z.gte(0));

const action: z.ZodMiniType<RunAction> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('resume'), force: z.optional(z.boolean()) }),
  z.object({
    type: z.literal('fork'),
    at: z.int().check(z.gte(0)),
    set: z.record(z.string(), z.unknown()),
    turns: z.optional(
      z.array(
        z.object({
          role: z.enum(['system', 'user', 'assistant', 'tool']),
          content: z.string(),
          ...toolTurnSchema.shape,
        }),
      ),
    ),
    event: z.optional(z.looseObject({ type: z.string() })),
    input: z.optional(z.unknown()),
    model: z.optional(z.string()),
  }),
  z.object({ type: z.literal('replay') }),
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('retry') }),
  z.object({ type: z.literal('release') }),
]);

const confirmed: z.ZodMiniType<NeedsTrust> = z.object({ doubt: z.string(), actions: z.array(z.string()) });

/** What a page sends. Each message with an `id` gets one `reply`. */
const pageMessageSchema = z.discriminatedUnion('type', [
  /** Requests the entries of a run from this number on, including future ones. `states`: whether to send its states too; if absent, only those of a short run. */
  z.object({ type: z.literal('open'), runId, from: z.int().check(z.gte(0)), states: z.optional(z.boolean()) }),
  z.object({ type: z.literal('close'), runId }),
  /** Sends an event to a live run, or to a recorded actor. */
  z.object({ type: z.literal('send'), id, runId, event: z.unknown() }),
  /** Acts on a recorded run or actor. `confirmed`: the `needsTrust` of an earlier reply that the user has confirmed, otherwise null. */
  z.object({ type: z.literal('act'), id, runId, action, confirmed: z.nullable(confirmed) }),
  /** Deletes a recorded run. */
  z.object({ type: z.literal('remove'), id, runId }),
  /** Repairs durable actors. `dryRun`: only reports what would happen. `output`: for `skip`, the result of the calls that have failed. */
  z.object({
    type: z.literal('repair'),
    id,
    runIds: z.array(runId).check(z.maxLength(MAX_REPAIRED)),
    action: z.enum(['retry', 'skip', 'release', 'stop']),
    dryRun: z.boolean(),
    output: z.optional(z.unknown()),
  }),
  /** Requests a run as one page without the texts that match these patterns. */
  z.object({
    type: z.literal('export'),
    id,
    runId,
    redact: z.array(z.string().check(z.minLength(1), z.maxLength(MAX_ID_CHARS))).check(z.maxLength(64)),
  }),
]);

export type PageMessage = Readonly<z.infer<typeof pageMessageSchema>>;

type WithoutId<Message> = Message extends { readonly id: number } ? Omit<Message, 'id'> : never;

/** A message that gets a reply; its sender gives it an id. */
export type PageRequest = WithoutId<PageMessage>;

/** Returns null for an invalid message. */
export function readPageMessage(text: string): PageMessage | null {
  return pageMessageSchema.safeParse(parseJson(text)).data ?? null;
}
