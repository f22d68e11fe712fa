/**
 * Polyfill for Node 20: the SDK uses Promise.withResolvers when it serves a request. It is imported here and not in index.ts, because
 * bundlers drop side effects of index.ts.
 *
 * @internal
 */
import 'core-js/modules/es.promise.with-resolvers.js';
import {
  CancelledError,
  type DurablePromise,
  handlers,
  type internal,
  RestatePromise,
  TerminalError,
  type WorkflowContext,
  type WorkflowOptions,
  type WorkflowSharedContext,
  workflow,
} from '@restatedev/restate-sdk';
import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ClientEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Codec, Json } from '../../durable/codec.ts';
import { invalidOption } from '../../internal/options.ts';
import type { Cluster, ClusterOutcome, SentOutcome } from './cluster.ts';

/** The fields that every status has. */
interface StoredStatus {
  /** `running` until the end. */
  readonly status: string;
  /** The number of journal entries. */
  readonly entries: number;
}

interface JournaledWorkflow<Input, Output> {
  readonly name: string;
  readonly run: (ctx: WorkflowContext, input: Input) => Promise<Output>;
  /** Anyone who reaches the ingress can send events, so only these are accepted. */
  readonly eventSchema: z.ZodMiniType;
  /** Stores the events in the run. */
  readonly codec: Codec;
  readonly options: WorkflowOptions;
}

/** Returns a workflow with a journal and a status, which `journalKeeper` stores, and with events. */
export function journaledWorkflow<Input, Output, Event, Status extends StoredStatus, Entry extends StoredEntry>({
  name,
  run,
  eventSchema,
  codec,
  options,
}: JournaledWorkflow<Input, Output>) {
  return workflow({
    name,
    handlers: {
      run: handlers.workflow.workflow(run),
      send: handlers.workflow.shared(async (ctx: WorkflowSharedContext, sent: SentEvent<Event>): Promise<Sent> => {
        requireStorable(sent, codec, ctx.key);
        return sendEvent(ctx, sent, eventSchema);
      }),
      status: handlers.workflow.shared((ctx: WorkflowSharedContext): Promise<Status | null> => readStatus(ctx)),
      journal: handlers.workflow.shared(
        (ctx: WorkflowSharedContext, request: JournalRequest): Promise<JournalPage<Entry>> => readPage(ctx, request),
      ),
    },
    options: { enableLazyState: true, ...options },
  });
}

/**
 * Returns a Restate workflow as the cluster of a run. Outcomes must come in the order of Restate's journal, so promises are combined with the
 * SDK's combinators only, never with `then` or `Promise.race`.
 */
export function restateCluster(ctx: WorkflowContext): Cluster {
  return {
    run: (name, act) => ctx.run(name, act),
    // Restate records when a sleep ends, not how long it is, so a replay may request another length. `first` adds the time.
    sleep: (untilMs) =>
      ctx.sleep(Math.max(0, untilMs - Date.now())).map((): ClusterOutcome => ({ type: 'slept', atMs: 0 })),
    sent: (number) => ctx.promise<ClusterOutcome>(promiseName(number)).get(),
    isKnown: () => !(ctx as unknown as internal.ContextInternal).isProcessing(),
    async first(pending) {
      try {
        const outcome = await RestatePromise.race(pending as readonly RestatePromise<ClusterOutcome>[]);
        return outcome.type === 'slept' ? { ...outcome, atMs: await ctx.date.now() } : outcome;
      } catch (error) {
        if (error instanceof CancelledError) return { type: 'interrupted' };
        throw error;
      }
    },
  };
}

/** Records the start of a run. PostChain's own errors are not retried. */
export function recordStart<Start>(ctx: WorkflowContext, start: () => Start): Promise<Start> {
  return ctx.run('run-start', () => {
    try {
      return start();
    } catch (error) {
      throw terminalError(error);
    }
  });
}

/** The options of a workflow, which the SDK does not check. */
export const WORKFLOW_OPTIONS: string = Object.keys({
  workflowRetention: 1,
  enableLazyState: 1,
  idempotencyRetention: 1,
  journalRetention: 1,
  inactivityTimeout: 1,
  abortTimeout: 1,
  ingressPrivate: 1,
  retryPolicy: 1,
  asTerminalError: 1,
  serde: 1,
  hooks: 1,
  explicitCancellation: 1,
  onJournalMismatchErrors: 1,
} satisfies Record<keyof WorkflowOptions, 1>).join(' ');

/** Throws `invalid_option` for options that would have no effect, with the reason. */
export function rejectReplaced(options: object, replaced: Readonly<Record<string, string>>): void {
  for (const [name, why] of Object.entries(replaced))
    if ((options as Record<string, unknown>)[name] !== undefined)
      throw new PostChainError('invalid_option', `"${name}" cannot be used with Restate; ${why}`);
}

const requestSchema = z.strictObject({ from: z.optional(z.int().check(z.gte(0))) });

/** Requests the entries from this `seq` on; 0 by default. */
export type JournalRequest = z.input<typeof requestSchema>;

interface StoredEntry {
  readonly seq: number;
}

export interface JournalPage<Entry = JournalEntry> {
  readonly entries: readonly Entry[];
  /** The `from` of the next page. */
  readonly next: number;
  /** Whether the run has ended and this is its last page. */
  readonly isEnd: boolean;
}

const STATUS_KEY = 'status';
const ENTRIES_KEY = 'entries-';

/** A page ends with the batch that makes it this long. */
const PAGE_CHARS = 1_000_000;

/** Returns a function that stores a batch of entries in the workflow's state, under the `seq` of its first entry, and the status after it. */
export function journalKeeper(ctx: WorkflowContext): (entries: readonly StoredEntry[], status: StoredStatus) => void {
  return (entries, status) => {
    ctx.set(`${ENTRIES_KEY}${entries[0]?.seq}`, entries);
    ctx.set(STATUS_KEY, status);
  };
}

function readStatus<Status>(ctx: WorkflowSharedContext): Promise<Status | null> {
  return ctx.get<Status>(STATUS_KEY);
}

/** Returns a page of stored entries. Throws a terminal error with code 400 for an invalid request. */
async function readPage<Entry extends StoredEntry>(
  ctx: WorkflowSharedContext,
  request: JournalRequest,
): Promise<JournalPage<Entry>> {
  const read = requestSchema.safeParse(request ?? {});
  if (!read.success) throw terminalError(invalidOption('The request', request, read.error, requestSchema));
  const { from = 0 } = read.data;
  const status = await readStatus<StoredStatus>(ctx);
  const entries: Entry[] = [];
  let chars = 0;
  for (const first of batchesFrom(from, await ctx.stateKeys())) {
    const batch = (await ctx.get<readonly Entry[]>(`${ENTRIES_KEY}${first}`)) ?? [];
    entries.push(...batch.filter(({ seq }) => seq >= from));
    chars += JSON.stringify(batch).length;
    if (chars >= PAGE_CHARS) break;
  }
  const next = from + entries.length;
  return { entries, next, isEnd: status !== null && status.status !== 'running' && next >= status.entries };
}

/** Returns the batches that may contain entries from this `seq` on, by the `seq` of their first entry. */
function batchesFrom(from: number, keys: readonly string[]): readonly number[] {
  const firsts = keys.filter((key) => key.startsWith(ENTRIES_KEY)).map((key) => Number(key.slice(ENTRIES_KEY.length)));
  firsts.sort((one, other) => one - other);
  return firsts.filter((_, index) => (firsts[index + 1] ?? Number.POSITIVE_INFINITY) > from);
}

/** An event for a run. If two events have the same `id`, the run receives the first one only. */
export interface SentEvent<Event = ClientEvent> {
  readonly event: Event;
  /** At most 200 characters. */
  readonly id?: string;
}

/** The ids of the events of effects begin with `effect:`. */
const eventId = z.optional(z.string().check(z.minLength(1), z.maxLength(200), z.regex(/^(?!effect:)/u)));

/** The number of the event in its run, from 0. `repeated`: an event with this id was already sent. */
export interface Sent {
  readonly number: number;
  readonly repeated: boolean;
}

/** A promise can be resolved once, so no event overwrites another. */
function promiseName(number: number): string {
  return `event-${number}`;
}

/** The maximum number of events of a run: Restate reads all of them whenever it continues the run. */
const MAX_SENT = 10_000;

/** First of all checks, because the others may exceed the call stack. */
function requireStorable(request: unknown, codec: Codec, key: string): void {
  try {
    codec.encode((Object(request) as { readonly event?: unknown }).event, `event for ${key}`);
  } catch (error) {
    throw terminalError(error);
  }
}

/** Appends an event to those already sent. Throws a terminal error with code 400 for an invalid event, and with 429 for one over the limit. */
export async function sendEvent(
  ctx: WorkflowSharedContext,
  request: unknown,
  eventSchema: z.ZodMiniType,
): Promise<Sent> {
  const schema = z.strictObject({ event: eventSchema, id: eventId });
  const read = schema.safeParse(request);
  if (!read.success) throw terminalError(invalidOption('The event', request, read.error, schema));
  const { event, id } = read.data;
  const isTaken = async (at: number) => (await ctx.promise(promiseName(at)).peek()) !== undefined;
  const tooMany = new TerminalError(`too_many_events: a run accepts at most ${MAX_SENT} events`, { errorCode: 429 });
  const numberOf = id === undefined ? null : ctx.promise<number>(`number-${id}`);
  const known = await numberOf?.peek();
  if (known !== undefined) return { number: known, repeated: true };
  if (await isTaken(MAX_SENT - 1)) throw tooMany;
  const atMs = await ctx.date.now();
  const sent: SentOutcome = { type: 'sent', event: event as Json, atMs, ...(id !== undefined && { id }) };
  for (let free = await firstFree(isTaken); free < MAX_SENT; free += 1) {
    // Another caller may take the number first.
    if ((await tryResolve(ctx.promise<SentOutcome>(promiseName(free)), sent)) !== null) continue;
    // The run ignores the second event of two callers at once.
    const first = numberOf && (await tryResolve(numberOf, free));
    return { number: first ?? free, repeated: first !== null };
  }
  throw tooMany;
}

/** Events are numbered without gaps, so a binary search finds the first number that is not taken. */
async function firstFree(isTaken: (number: number) => Promise<boolean>): Promise<number> {
  let [from, to] = [0, 1];
  while (to < MAX_SENT && (await isTaken(to - 1))) [from, to] = [to, Math.min(2 * to, MAX_SENT)];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (await isTaken(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Resolves a promise and returns null, or returns the value that another caller resolved it with. */
async function tryResolve<Value>(promise: DurablePromise<Value>, value: Value): Promise<Value | null> {
  try {
    await promise.resolve(value);
    return null;
  } catch (error) {
    const earlier = error instanceof TerminalError ? await promise.peek() : undefined;
    if (earlier === undefined) throw error;
    return earlier;
  }
}

/** Makes PostChain's own errors terminal: Restate does not retry, and the caller gets code 400. Other errors stay retryable. */
function terminalError(error: unknown): unknown {
  if (!(error instanceof PostChainError)) return error;
  return new TerminalError(`${error.code}: ${error.message}`, { errorCode: 400 });
}
