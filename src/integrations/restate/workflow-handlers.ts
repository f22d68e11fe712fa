import { TerminalError, type WorkflowContext, type WorkflowSharedContext } from '@restatedev/restate-sdk';
import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { clientEventSchema, type EmittedEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { type ApprovalAsked, foldApprovals } from '../../../machines/policies/pending-approvals.ts';
import { invalidOption } from '../../internal/options.ts';
import type { SentOutcome } from './restate-executor.ts';

type PendingQuestion = Extract<EmittedEvent, { type: 'consent-asked' | 'direction-asked' }>;

/** The status of a run, folded from its journal. */
export interface WorkflowStatus {
  readonly runId: string;
  readonly status: 'running' | FinalAnswer['status'];
  /** The latest phase; null before the first. */
  readonly phase: Phase | null;
  readonly cycle: number;
  /** The question that the run waits on (consent or direction); null if there is none. */
  readonly asks: PendingQuestion | null;
  /** The calls that wait for approval. */
  readonly approvals: readonly ApprovalAsked[];
  /** The number of journal entries. */
  readonly entries: number;
}

export function initialStatus(runId: string): WorkflowStatus {
  return { runId, status: 'running', phase: null, cycle: 0, asks: null, approvals: [], entries: 0 };
}

export function foldStatus(status: WorkflowStatus, entry: JournalEntry): WorkflowStatus {
  return { ...status, ...changes(entry), approvals: foldApprovals(status.approvals, entry), entries: entry.seq + 1 };
}

function changes(entry: JournalEntry): Partial<WorkflowStatus> {
  switch (entry.type) {
    case 'phase-start':
      return { phase: entry.phase, cycle: entry.cycle, asks: null };
    case 'consent-asked':
    case 'direction-asked':
      return { asks: entry };
    case 'consent-resolved':
    case 'decision':
      return { asks: null };
    case 'run-end':
      return { status: entry.status, asks: null };
    default:
      return {};
  }
}

const requestSchema = z.strictObject({ from: z.optional(z.int().check(z.gte(0))) });

/** Requests the entries from this `seq` on; 0 by default. */
export type JournalRequest = z.input<typeof requestSchema>;

export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** The `from` of the next page. */
  readonly next: number;
  /** Whether the run has ended and this is its last page. */
  readonly isEnd: boolean;
}

const STATUS_KEY = 'status';
const ENTRIES_KEY = 'entries-';

/** A page ends with the batch that makes it this long. */
const PAGE_CHARS = 1_000_000;

/** Returns a function that stores batches of entries in the workflow's state, each under the `seq` of its first entry. */
export function journalKeeper(ctx: WorkflowContext): (entries: readonly JournalEntry[]) => void {
  let status = initialStatus(ctx.key);
  return (entries) => {
    ctx.set(`${ENTRIES_KEY}${status.entries}`, entries);
    status = entries.reduce(foldStatus, status);
    ctx.set(STATUS_KEY, status);
  };
}

export function readStatus(ctx: WorkflowSharedContext): Promise<WorkflowStatus | null> {
  return ctx.get<WorkflowStatus>(STATUS_KEY);
}

/** Returns a page of stored entries. Throws a terminal error with code 400 for an invalid request. */
export async function readPage(ctx: WorkflowSharedContext, request: JournalRequest): Promise<JournalPage> {
  const read = requestSchema.safeParse(request ?? {});
  if (!read.success) throw terminalError(invalidOption('The request', request, read.error, requestSchema));
  const { from = 0 } = read.data;
  const status = await readStatus(ctx);
  const entries: JournalEntry[] = [];
  let chars = 0;
  for (const first of batchesFrom(from, await ctx.stateKeys())) {
    const batch = (await ctx.get<readonly JournalEntry[]>(`${ENTRIES_KEY}${first}`)) ?? [];
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

/** Anyone who reaches the ingress can send events, so only a client's events are accepted. */
const sentEventSchema = z.strictObject({
  event: clientEventSchema,
  id: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
});

/** An event for a run. If two events have the same `id`, the run receives the first one only. */
export type SentEvent = z.input<typeof sentEventSchema>;

/** The number of the event in its run, from 0. `repeated`: an event with this id was already sent. */
export interface Sent {
  readonly number: number;
  readonly repeated: boolean;
}

/** A promise can be resolved once, so no event overwrites another. */
export function promiseName(number: number): string {
  return `event-${number}`;
}

/** The maximum number of events of a run: sending one reads all earlier ones, and the run keeps them. */
const MAX_SENT = 200;

/** Appends an event to those already sent. Throws a terminal error with code 400 for an invalid event, and with 429 for one over the limit. */
export async function sendEvent(ctx: WorkflowSharedContext, request: SentEvent): Promise<Sent> {
  const read = sentEventSchema.safeParse(request);
  if (!read.success) throw terminalError(invalidOption('The event', request, read.error, sentEventSchema));
  const { event, id = ctx.request().id } = read.data;
  const sent: SentOutcome = { type: 'sent', id, event, atMs: await ctx.date.now() };
  const tooMany = new TerminalError(`too_many_events: a run accepts at most ${MAX_SENT} events`, { errorCode: 429 });
  if ((await ctx.promise(promiseName(MAX_SENT - 1)).peek()) !== undefined) throw tooMany;
  for (let number = 0; number < MAX_SENT; number += 1) {
    const promise = ctx.promise<SentOutcome>(promiseName(number));
    const earlier = (await promise.peek()) ?? (await tryResolve(promise, sent));
    if (earlier === null) return { number, repeated: false };
    if (earlier.id === id) return { number, repeated: true };
  }
  throw tooMany;
}

/** Resolves a promise and returns null, or returns the event that another caller resolved it with. */
async function tryResolve(
  promise: ReturnType<WorkflowSharedContext['promise']>,
  sent: SentOutcome,
): Promise<SentOutcome | null> {
  try {
    await promise.resolve(sent);
    return null;
  } catch (error) {
    const earlier = error instanceof TerminalError ? ((await promise.peek()) as SentOutcome | undefined) : undefined;
    if (earlier === undefined) throw error;
    return earlier;
  }
}

/** Converts our own errors to terminal ones: Restate does not retry, and the caller gets code 400. Others stay retryable. */
export function terminalError(error: unknown): unknown {
  if (!(error instanceof PostChainError)) return error;
  return new TerminalError(`${error.code}: ${error.message}`, { errorCode: 400 });
}
