import * as z from 'zod/mini';
import { attachmentSchema } from './attachment.ts';
import { chainInputSchema, type RecordedState } from './chain-state.ts';
import { guardInputsSchema } from './decision.ts';
import { callEventSchema, chainEventSchema, type EmittedEvent, emittedEventSchema } from './events.ts';
import { usageSchema } from './usage.ts';

export const JOURNAL_VERSION = 2;

/** A transition that was considered, in document order: its guard, the guard's result, and the values it compared. */
const candidateSchema = z.object({
  guard: z.nullable(z.string()),
  target: z.array(z.string()),
  result: z.enum(['false', 'taken', 'not-evaluated']),
  inputs: z.nullable(guardInputsSchema),
});

/** A prompt of a run. */
const promptVersionSchema = z.object({ name: z.string(), version: z.number() });

/** The first entry: everything that determines the run. */
const runStartSchema = z.extend(chainInputSchema, {
  type: z.literal('run-start'),
  version: z.literal(JOURNAL_VERSION),
  /** The chart, and a digest of its definition. */
  chart: z.object({ id: z.string(), digest: z.string() }),
  modelId: z.string(),
  /** The fallback models, in order. */
  fallbackModelIds: z.readonly(z.array(z.string())),
  /** By task. */
  prompts: z.record(z.string(), promptVersionSchema),
  /**
   * Digest of `instructions`, eight hexadecimal digits, which remains when their text is redacted; null if no
   * instructions are given. Older journals have no digest.
   */
  instructionsDigest: z._default(z.nullable(z.string()), null),
  startedAt: z.iso.datetime(),
  /** JSON that the host program stores with the run for its own use. */
  host: z.nullable(z.record(z.string(), z.json())),
  /** Whether the journal has keyframes. */
  keyframes: z.boolean(),
  /** Whether texts were replaced on writing: such a journal cannot be replayed. */
  redacted: z.boolean(),
  /** The run that this one was forked from, and what was changed; null otherwise. */
  forkedFrom: z.nullable(
    z.object({
      runId: z.string(),
      seq: z.int().check(z.gte(0)),
      changes: z.readonly(z.array(z.string())),
      forkedAt: z.iso.datetime(),
    }),
  ),
});

export type RunStart = z.infer<typeof runStartSchema>;

/** External events, delivered to the charts one at a time. They determine the run: a replay feeds them to the charts again. */
const externalEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('delivery'), event: chainEventSchema }),
  z.object({ type: z.literal('call-event'), call: z.int().check(z.gte(0)), actor: z.string(), event: callEventSchema }),
  /** A delay elapsed. Timers are numbered from 0 in the order in which they were set. */
  z.object({ type: z.literal('timer'), timer: z.int().check(z.gte(0)) }),
  /** The actor was stopped from outside. */
  z.object({ type: z.literal('run-stopped') }),
]);
export type ExternalEvent = z.infer<typeof externalEventSchema>;

/** Annotations: entries that do not affect the charts. */
const annotationSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('retrieval'),
    query: z.string(),
    passages: z.int(),
    widened: z.boolean(),
    failure: z.nullable(z.string()),
  }),
  /** Text of a reply as it arrived, joined to pieces of up to half a second or about a thousand characters. */
  z.object({ type: z.literal('text-delta'), attemptId: z.string(), text: z.string() }),
  /** A digest of the prompt of a model call: FNV-1a of its turns, schema and tools as JSON. */
  z.object({ type: z.literal('prompt'), attemptId: z.string(), digest: z.string() }),
  /** The bytes of an attachment, in Base64; empty in a redacted journal. One per digest, directly after `run-start`. */
  z.extend(attachmentSchema, { type: z.literal('attachment'), data: z.string() }),
  /** Another process resumed the run here. */
  z.object({ type: z.literal('resumed'), resumedAt: z.iso.datetime() }),
]);
export type Annotation = z.infer<typeof annotationSchema>;

const pathSchema = z.array(z.union([z.string(), z.int().check(z.gte(0))]));

/** One change of a JSON state at a path: list items are replaced, a member is removed, or a value is set. */
const stateChangeSchema = z.union([
  z.object({
    path: pathSchema,
    at: z.int().check(z.gte(0)),
    removed: z.int().check(z.gte(0)),
    added: z.array(z.unknown()),
  }),
  z.object({ path: pathSchema, gone: z.literal(true) }),
  z.object({ path: pathSchema, value: z.unknown() }),
]);
export type StateChange = z.infer<typeof stateChangeSchema>;

const retryRuleSchema = z.enum(['shouldRetry', 'recordFailure', 'prepareRetry', 'finalizeOrThrow']);
export type RetryRule = z.infer<typeof retryRuleSchema>;

/** Entries that the runtime writes in addition to the charts' emitted events. */
const runtimeEventSchema = z.discriminatedUnion('type', [
  runStartSchema,
  ...externalEventSchema.def.options,
  ...annotationSchema.def.options,
  /** A chart starts an activity. Activities are numbered from 0 in the order in which they started. */
  z.object({
    type: z.literal('call-start'),
    call: z.int().check(z.gte(0)),
    actor: z.string(),
    /** For a model call. */
    attemptId: z.optional(z.string()),
    task: z.optional(z.string()),
    /** For a capability. */
    capability: z.optional(z.string()),
  }),
  /** What a rule of the user's retry policy returned, or the message of what it threw. A rule that changes a value returns the changed fields. */
  z.object({
    type: z.literal('retry-rule'),
    attemptId: z.string(),
    rule: retryRuleSchema,
    result: z.optional(z.unknown()),
    error: z.nullable(z.string()),
  }),
  z.object({
    type: z.literal('transition'),
    machine: z.string(),
    event: z.string(),
    source: z.string(),
    target: z.array(z.string()),
    candidates: z.array(candidateSchema),
  }),
  /** The changes of the state since the last `state` entry. Only in the journals of other actor systems. */
  z.object({ type: z.literal('state'), changes: z.array(stateChangeSchema) }),
  /** The complete state, recorded every 2,048 entries for readers that cannot replay the run. */
  z.object({ type: z.literal('keyframe'), state: z.custom<RecordedState>((value) => typeof value === 'object') }),
  z.object({ type: z.literal('run-end'), status: z.enum(['completed', 'degraded', 'cancelled']), usage: usageSchema }),
]);
export type RuntimeEvent = z.infer<typeof runtimeEventSchema>;

/** Returns the keys of a record, whose type requires every entry type of a kind. */
const typesOf = <Type extends JournalEvent['type']>(
  types: Readonly<Record<Type, true>>,
): ReadonlySet<JournalEvent['type']> => new Set(Object.keys(types) as Type[]);

/** The entry types that a replay feeds to the charts, and those that it copies. The charts emit all others again. */
export const EXTERNAL_EVENTS = typesOf<ExternalEvent['type']>({
  delivery: true,
  'call-event': true,
  timer: true,
  'run-stopped': true,
});
export const ANNOTATIONS = typesOf<Annotation['type']>({
  retrieval: true,
  'text-delta': true,
  prompt: true,
  attachment: true,
  resumed: true,
});

/** `seq` counts from 0 without gaps; `atMs` is milliseconds since the start by the run's clock. */
const place = { seq: z.int().check(z.gte(0)), atMs: z.number() };
const entrySchema = z.discriminatedUnion('type', [
  ...emittedEventSchema.def.options.map((option) => z.extend(option, place)),
  ...runtimeEventSchema.def.options.map((option) => z.extend(option, place)),
] as unknown as readonly [z.ZodMiniObject<{ type: z.ZodMiniLiteral<JournalEvent['type']> }>]);
export const journalEntrySchema = entrySchema as unknown as z.ZodMiniType<JournalEntry>;
export type JournalEvent = EmittedEvent | RuntimeEvent;
export type JournalEntry = JournalEvent & { readonly seq: number; readonly atMs: number };

/** How a run ended, or `running` if a process executes it; an `interrupted` run can be resumed. */
export type RunStatus = 'completed' | 'degraded' | 'cancelled' | 'running' | 'interrupted' | 'damaged';

/** A run as lists show it. */
export interface RunSummary {
  readonly runId: string;
  readonly request: string;
  /** When the run (for a fork: the fork) started, in ISO 8601; empty if the journal cannot be read. */
  readonly startedAt: string;
  /** The run and entry that this run was forked from; null otherwise. */
  readonly forkedFrom: { readonly runId: string; readonly seq: number } | null;
  readonly status: RunStatus;
}
