import * as z from 'zod/mini';
import { chainInputSchema } from './chain-state.ts';
import { guardInputsSchema } from './decision.ts';
import { callErrorSchema, callEventSchema, chainEventSchema, type EmittedEvent, emittedEventSchema } from './events.ts';
import { attachmentSchema } from './message.ts';
import { usageSchema } from './usage.ts';

/** A transition that was considered, in document order: its guard, the guard's result, and the values it compared. */
const candidateSchema = z.object({
  guard: z.nullable(z.string()),
  target: z.array(z.string()),
  result: z.enum(['false', 'taken', 'not-evaluated']),
  inputs: z.nullable(guardInputsSchema),
});

/** The native tool calls of a turn, or the call whose result it is. */
export const toolTurnSchema = z.object({
  toolCalls: z.exactOptional(z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }))),
  toolResult: z.exactOptional(z.object({ id: z.string(), name: z.string(), isError: z.boolean() })),
});

/** A prompt of a run. `isOwn`: the prompt is not the built-in one, whatever its version. */
const promptVersionSchema = z.object({
  name: z.string(),
  version: z.number(),
  isOwn: z.optional(z.literal(true)),
});

/** The data that the chain stores in addition to the input of a run. */
const runProductSchema = z.object({
  modelId: z.string(),
  /** The fallback models, in order. */
  fallbackModelIds: z.readonly(z.array(z.string())),
  /** By task. */
  prompts: z.record(z.string(), promptVersionSchema),
  /**
   * Digest of `instructions`, eight hexadecimal digits, which remains when their text is redacted; null if no
   * instructions are given.
   */
  instructionsDigest: z.nullable(z.string()),
  /** JSON that the host program stores with the run for its own use. */
  host: z.nullable(z.record(z.string(), z.json())),
  /** Whether texts were replaced on writing: such a journal cannot be replayed. */
  redacted: z.boolean(),
  /** What a fork changed; null for other runs. */
  fork: z.nullable(z.object({ changes: z.readonly(z.array(z.string())), forkedAt: z.iso.datetime() })),
});
export type RunProduct = z.infer<typeof runProductSchema>;

/** The first entry: everything that determines the run. */
const runStartSchema = z.object({
  type: z.literal('start'),
  /** The id of the run. */
  actorId: z.string(),
  /** The chart, and a digest of its definition. */
  machine: z.object({ id: z.string(), version: z.nullable(z.string()), digest: z.string() }),
  input: chainInputSchema,
  product: runProductSchema,
  startedAt: z.iso.datetime(),
  /** The seed of `Math.random` and `crypto.randomUUID` in the charts. */
  seed: z.number(),
  /** The versions of Node.js and of its Unicode data. */
  node: z.string(),
  icu: z.string(),
  /** The run that this one was forked from; null if it is not a fork. */
  forkedFrom: z.nullable(
    z.object({
      actorId: z.string(),
      seq: z.int().check(z.gte(0)),
      /** When the run's clock stood at 0, in milliseconds since the epoch. */
      clockStartMs: z.number(),
    }),
  ),
});

export type RunStart = z.infer<typeof runStartSchema>;

/** External events, delivered to the charts one at a time. They determine the run: a replay feeds them to the charts again. */
const externalEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('delivery'), actor: z.literal(''), event: chainEventSchema }),
  /** What an activity reports to an actor. `source` is the activity's name. */
  z.object({
    type: z.literal('activity-event'),
    activity: z.int().check(z.gte(0)),
    source: z.string(),
    actor: z.string(),
    event: callEventSchema,
  }),
  /** A delay elapsed. Timers are numbered from 0 in the order in which they were set. */
  z.object({ type: z.literal('timer'), timer: z.int().check(z.gte(0)) }),
  /** An actor failed outside the charts: a call started with an exception, or its result could not be stored. */
  z.object({ type: z.literal('failed'), actor: z.string(), error: callErrorSchema }),
  /** The actor was stopped from outside. */
  z.object({ type: z.literal('stopped') }),
]);
export type ExternalEvent = z.infer<typeof externalEventSchema>;

/** The process that ran the run has left it. If it only waited: since when, until when, and for which answers. */
const closedSchema = z.object({
  type: z.literal('closed'),
  closedAt: z.iso.datetime(),
  waiting: z.optional(
    z.object({ sinceMs: z.number(), dueAtMs: z.nullable(z.number()), events: z.readonly(z.array(z.string())) }),
  ),
  summary: z.optional(z.object({ for: z.string(), questionIds: z.readonly(z.array(z.string())) })),
});

/** Annotations: entries that do not affect the charts. `activity` is the number of the activity that added the entry. */
const annotationSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('retrieval'),
    query: z.string(),
    passages: z.int(),
    widened: z.boolean(),
    failure: z.nullable(z.string()),
    activity: z.optional(z.int()),
  }),
  /** Text of a reply as it arrived, joined to pieces of up to a fifth of a second or about a thousand characters. */
  z.object({
    type: z.literal('text-delta'),
    attemptId: z.string(),
    text: z.string(),
    /** Set if the text belongs to native tool calls. */
    isCall: z.exactOptional(z.literal(true)),
    activity: z.optional(z.int()),
  }),
  /** The prompt of a model call, as the model received it, without the bytes of files. Each different turn and part is stored once. */
  z.object({
    type: z.literal('prompt'),
    attemptId: z.string(),
    /** FNV-1a of its turns, files, schema and tools. */
    digest: z.string(),
    /** The number of a turn of an earlier entry: it and all turns before it precede `turns`. Absent if `turns` has all. */
    after: z.exactOptional(z.int()),
    /** Each content is the concatenation of its parts, by their numbers. */
    turns: z.array(
      z.object({
        /** Absent in older journals. */
        number: z.exactOptional(z.int()),
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        parts: z.array(z.int()),
        ...toolTurnSchema.shape,
      }),
    ),
    /** The part with the JSON Schema of the reply. */
    schema: z.int(),
    tools: z.array(z.int()),
    /** The parts that no other entry has, by their numbers. */
    parts: z.record(z.string(), z.string()),
    /** Whether the text was edited for this call. */
    edited: z.exactOptional(z.boolean()),
    activity: z.optional(z.int()),
  }),
  /** The bytes of an attachment, in Base64; empty in a redacted journal. One per digest, directly after `start`. */
  z.extend(attachmentSchema, { type: z.literal('attachment'), data: z.string() }),
  /** Another process resumed the run here, or, with `wasPaused`, the run left the queue. */
  z.object({ type: z.literal('resumed'), resumedAt: z.iso.datetime(), wasPaused: z.exactOptional(z.literal(true)) }),
  /** Workers no longer continue the run; after `released`, they do. */
  z.object({ type: z.literal('quarantined'), reason: z.string() }),
  z.object({ type: z.literal('released') }),
  closedSchema,
]);
export type Annotation = z.infer<typeof annotationSchema>;

/** Identifies what a call asks of a model or a capability. */
const callSubjectSchema = z.object({
  /** A digest of the request, without the ids of runs, attempts and tool calls, and without remaining budgets. */
  request: z.optional(z.string()),
  /** For a model call. */
  attemptId: z.optional(z.string()),
  task: z.optional(z.string()),
  /** For a capability. */
  capability: z.optional(z.string()),
});
export type CallSubject = z.infer<typeof callSubjectSchema>;

/** Entries that the runtime writes in addition to the charts' emitted events. */
const runtimeEventSchema = z.discriminatedUnion('type', [
  runStartSchema,
  ...externalEventSchema.def.options,
  ...annotationSchema.def.options,
  /** A chart starts an activity. Activities are numbered from 0 in the order in which they started. */
  z.object({
    type: z.literal('activity-start'),
    activity: z.int().check(z.gte(0)),
    source: z.string(),
    /** The path of the activity's own actor. */
    actor: z.string(),
    inputDigest: z.string(),
    subject: z.optional(callSubjectSchema),
  }),
  /**
   * What a rule of the user's retry policy returned, or the message of what it threw. `name` is `<rule> <attemptId>`. A rule that
   * changes a value returns the changed fields.
   */
  z.object({ type: z.literal('value'), name: z.string(), value: z.json(), error: z.nullable(z.string()) }),
  z.object({
    type: z.literal('transition'),
    /** The path of the machine's actor; empty for the chain's. */
    actor: z.string(),
    machine: z.string(),
    event: z.string(),
    source: z.string(),
    target: z.array(z.string()),
    candidates: z.array(candidateSchema),
  }),
  /** An event for which every guard was false. */
  z.object({
    type: z.literal('ignored'),
    actor: z.string(),
    machine: z.string(),
    event: z.string(),
    candidates: z.array(candidateSchema),
  }),
  /** A delay begins. `dueMs` counts from the start of the run. */
  z.object({
    type: z.literal('timer-start'),
    timer: z.int().check(z.gte(0)),
    actor: z.string(),
    event: z.string(),
    dueMs: z.number(),
  }),
  /** How the chart's actor ended. */
  z.object({
    type: z.literal('end'),
    status: z.enum(['done', 'error', 'stopped']),
    output: z.optional(z.unknown()),
    error: z.optional(z.unknown()),
    summary: z.object({ status: z.enum(['completed', 'degraded', 'cancelled']), usage: usageSchema }),
  }),
]);
type RuntimeEvent = z.infer<typeof runtimeEventSchema>;

/** How a run ended, from its last entry. */
export type RunEnd = Extract<RuntimeEvent, { type: 'end' }>['summary'];

/** Returns the keys of a record, whose type requires every entry type of a kind. */
const typesOf = <Type extends JournalEvent['type']>(
  types: Readonly<Record<Type, true>>,
): ReadonlySet<JournalEvent['type']> => new Set(Object.keys(types) as Type[]);

/** The entry types that a replay feeds to the charts, and those that it copies. The charts emit all others again. */
export const EXTERNAL_EVENTS = typesOf<ExternalEvent['type']>({
  delivery: true,
  'activity-event': true,
  timer: true,
  failed: true,
  stopped: true,
});
export const ANNOTATIONS = typesOf<Annotation['type']>({
  retrieval: true,
  'text-delta': true,
  prompt: true,
  attachment: true,
  resumed: true,
  quarantined: true,
  released: true,
  closed: true,
});

/** The path of the actor that emitted an event; absent for the chain's, null for one that the chart did not emit. */
const emitterSchema = z.optional(z.nullable(z.string()));
/** `seq` counts from 0 without gaps; `atMs` is milliseconds since the start by the run's clock. */
const place = { seq: z.int().check(z.gte(0)), atMs: z.number() };
/** Built on first use, because only programs that read stored journals need it. */
export const journalEntrySchema = z.lazy(() =>
  z.discriminatedUnion('type', [
    ...emittedEventSchema.def.options.map((option) => z.extend(option, { ...place, from: emitterSchema })),
    ...runtimeEventSchema.def.options.map((option) => z.extend(option, place)),
  ] as unknown as readonly [z.ZodMiniObject<{ type: z.ZodMiniLiteral<JournalEvent['type']> }>]),
) as unknown as z.ZodMiniType<JournalEntry>;
export type JournalEvent = EmittedEvent | RuntimeEvent;
export type JournalEntry = JournalEvent & { readonly seq: number; readonly atMs: number };

/**
 * How a run ended, or `running` if a process executes it. Others can be resumed: one that is `waiting` has left memory, and the process of one
 * that is `interrupted` has ended.
 */
export type RunStatus = 'completed' | 'degraded' | 'cancelled' | 'running' | 'waiting' | 'interrupted' | 'damaged';

/** What a run outside memory waits for. */
export interface RunWait {
  /** `consent`, `direction` or `approval`; `timer` for a delay. */
  readonly for: string;
  readonly questionIds: readonly string[];
  /** ISO 8601. */
  readonly since: string;
  /** When it continues without an answer, in ISO 8601; null if it does not while no process runs it. */
  readonly due: string | null;
}

/** A run as lists show it. */
export interface RunSummary {
  readonly id: string;
  readonly request: string;
  /** When the run (for a fork: the fork) started, in ISO 8601; empty if the journal cannot be read. */
  readonly startedAt: string;
  /** The run and entry that this run was forked from; null otherwise. */
  readonly forkedFrom: { readonly actorId: string; readonly seq: number } | null;
  readonly status: RunStatus;
  /** Null unless its status is `waiting`. */
  readonly waiting: RunWait | null;
}
