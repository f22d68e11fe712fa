import { z } from 'zod';
import { chainInputSchema, type RecordedState } from './chain-state.ts';
import { verdictInputsSchema } from './decision.ts';
import { callEventSchema, chainEventSchema, type EmittedEvent, emittedEventSchema } from './events.ts';
import { usageSchema } from './usage.ts';

export const JOURNAL_VERSION = 1;

/** A candidate of a transition in document order: its guard, what the guard said, and what it saw. */
const candidateSchema = z.object({
  guard: z.string().nullable(),
  target: z.array(z.string()),
  verdict: z.enum(['false', 'taken', 'not-evaluated']),
  inputs: verdictInputsSchema.nullable(),
});

/** A prompt that a run was made with; `digest` tells its words apart where they can be read without a run, else it is null [E8]. */
const promptVersionSchema = z.object({ name: z.string(), version: z.number(), digest: z.string().nullable() });
export type PromptVersion = Readonly<z.infer<typeof promptVersionSchema>>;

/** How a run begins: everything that it goes by, as it was started with. A journal of its own begins with one. */
const runStartSchema = chainInputSchema.extend({
  type: z.literal('run-start'),
  version: z.literal(JOURNAL_VERSION),
  /** The chart that ran, and a short name for its definition: it changes with the chart. */
  chart: z.object({ id: z.string(), digest: z.string() }),
  modelId: z.string(),
  /** Those that stand behind the first, in order. */
  fallbackModelIds: z.array(z.string()).readonly(),
  /** By task. */
  prompts: z.record(z.string(), promptVersionSchema),
  startedAt: z.iso.datetime(),
  /** What the program that started the run wants to know of it later; JSON. */
  host: z.record(z.string(), z.json()).nullable(),
  /** The run that this one goes on from, and what was changed there; null for one that began by itself. */
  /** Whether it tells the states of the chart. */
  states: z.boolean(),
  /** Texts of it were replaced as they were written: what was decided by them cannot be made again. */
  redacted: z.boolean(),
  forkedFrom: z
    .object({
      runId: z.string(),
      seq: z.int().min(0),
      changes: z.array(z.string()).readonly(),
      forkedAt: z.iso.datetime(),
    })
    .nullable(),
});

export type RunStart = z.infer<typeof runStartSchema>;

/**
 * What comes to the charts from outside, one at a time: a run is nothing but what its charts make of these, so they are what a replay
 * feeds them with.
 */
const stimulusSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('delivery'), event: chainEventSchema }),
  z.object({ type: z.literal('call-event'), call: z.int().min(0), port: z.string(), event: callEventSchema }),
  /** A delay of a chart is over; timers count from 0 in the order in which they were set. */
  z.object({ type: z.literal('timer'), timer: z.int().min(0) }),
  /** Somebody stopped the actor from outside. */
  z.object({ type: z.literal('run-stopped') }),
]);
export type ExternalEvent = z.infer<typeof stimulusSchema>;

/** What is written beside what the charts do: it changes nothing in them. */
const noteSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('retrieval'),
    query: z.string(),
    passages: z.int(),
    widened: z.boolean(),
    failure: z.string().nullable(),
  }),
  z.object({ type: z.literal('text-delta'), attemptId: z.string(), text: z.string() }),
  /** The process that ran it had ended: another one goes on here. */
  z.object({ type: z.literal('resumed'), resumedAt: z.iso.datetime() }),
]);
export type Annotation = z.infer<typeof noteSchema>;

const pathSchema = z.array(z.union([z.string(), z.int().min(0)]));

/** How a state of JSON becomes the next: a place gets another value, loses its member, or of a list some items are others. */
const stateChangeSchema = z.union([
  z.object({ path: pathSchema, at: z.int().min(0), removed: z.int().min(0), added: z.array(z.unknown()) }),
  z.object({ path: pathSchema, gone: z.literal(true) }),
  z.object({ path: pathSchema, value: z.unknown() }),
]);
export type StateChange = z.infer<typeof stateChangeSchema>;

/** What the runtime writes beside the charts' facts. */
const runtimeFactSchema = z.discriminatedUnion('type', [
  runStartSchema,
  ...stimulusSchema.options,
  ...noteSchema.options,
  /** A chart asks the world; calls count from 0 in the order in which they were made. */
  z.object({
    type: z.literal('call-start'),
    call: z.int().min(0),
    port: z.string(),
    /** Where a model is asked. */
    attemptId: z.string().optional(),
    task: z.string().optional(),
    /** Where a capability runs. */
    capability: z.string().optional(),
  }),
  z.object({
    type: z.literal('transition'),
    machine: z.string(),
    event: z.string(),
    source: z.string(),
    target: z.array(z.string()),
    candidates: z.array(candidateSchema),
  }),
  /** How the state of the chart changed since it was last told. */
  z.object({ type: z.literal('state'), changes: z.array(stateChangeSchema) }),
  /** All of it. */
  z.object({ type: z.literal('keyframe'), state: z.custom<RecordedState>((value) => typeof value === 'object') }),
  z.object({ type: z.literal('run-end'), status: z.enum(['completed', 'degraded', 'cancelled']), usage: usageSchema }),
]);
export type RuntimeEvent = z.infer<typeof runtimeFactSchema>;

const kindsOf = (schema: { readonly options: readonly { readonly shape: { readonly type: z.ZodLiteral } }[] }) =>
  new Set(schema.options.flatMap(({ shape }) => [...shape.type.values] as string[]));

/** The kinds of entries that a replay feeds to the charts, and those that it copies: all others the charts make again. */
export const EXTERNAL_EVENTS = kindsOf(stimulusSchema) as ReadonlySet<JournalEvent['type']>;
export const ANNOTATIONS = kindsOf(noteSchema) as ReadonlySet<JournalEvent['type']>;

/** The place of an entry: `seq` counts from 0 without a gap, `atMs` is milliseconds from the start by the run's clock. */
const place = { seq: z.int().min(0), atMs: z.number() };
const entrySchema = z.discriminatedUnion('type', [
  ...emittedEventSchema.options.map((option) => option.extend(place)),
  ...runtimeFactSchema.options.map((option) => option.extend(place)),
] as unknown as readonly [z.ZodObject<{ type: z.ZodLiteral<JournalEvent['type']> }>]);
export const journalEntrySchema = entrySchema as unknown as z.ZodType<JournalEntry>;
export type JournalEvent = EmittedEvent | RuntimeEvent;
export type JournalEntry = JournalEvent & { readonly seq: number; readonly atMs: number };

/** Receives every text before it is written; returns what is written instead. */
export type Redact = (text: string) => string;

/** Writes the journal of one run, an entry at a time, in order: what was written is there though the process is killed next. */
export interface JournalWriter {
  /** Why nothing more is written, say a full disk; null while all is well. A journal that fails does not stop its run. */
  readonly failure: string | null;
  write(entry: JournalEntry): void;
  /** Nobody writes it any more. */
  close(): void;
}

/** A journal to go on with: what is whole of it, and a writer for what comes next. */
export interface OpenedJournal {
  readonly entries: readonly JournalEntry[];
  readonly writer: JournalWriter;
}

/** How a run stands: how it ended, or whether a process has it under way; `interrupted` can be resumed. */
export type RunStatus = 'completed' | 'degraded' | 'cancelled' | 'running' | 'interrupted' | 'damaged';

/** A run of a store, as lists show it. */
export interface RunSummary {
  readonly runId: string;
  readonly request: string;
  /** When it began, a fork as a fork; ISO 8601, empty where the journal cannot be read. */
  readonly startedAt: string;
  /** The run that it is a fork of, and the entry; null for one that began by itself. */
  readonly forkedFrom: { readonly runId: string; readonly seq: number } | null;
  readonly status: RunStatus;
}

export interface JournalStoreOptions {
  /**
   * Sees every text of an entry before it is written, and gives what is written in its place; the same text must always give the same. The pieces
   * of a reply are left out, since what is to be hidden may be cut in two by them; its whole text is shown. A run that was begun without it is
   * not opened with it.
   * Where it throws, nothing more is written.
   */
  readonly redact?: Redact;
}

/**
 * Keeps the journals of runs. A journal has one writer at a time: one that another process writes is not opened. Every method throws or
 * rejects with `invalid_journal` where a journal is damaged, in use, there already or not there.
 */
export interface JournalStore {
  /** Begins the journal of a run. */
  create(runId: string): JournalWriter;
  /** The entries of a run, in order. A torn last line, as a kill leaves it, is left out. */
  read(runId: string): AsyncIterable<JournalEntry>;
  /** To go on with a run; a torn last line is dropped. */
  open(runId: string): Promise<OpenedJournal>;
  /** The newest first. */
  list(): Promise<readonly RunSummary[]>;
}
