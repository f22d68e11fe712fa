import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import {
  closedSchema,
  type JournalEntry,
  journalEntrySchema,
  type RunStart,
  type RunStatus,
  type RunSummary,
  type RunWait,
} from '../../../machines/contracts/journal.ts';
import { durableFormat } from '../../durable/durable-format.ts';
import type { DurableEntry, StartEntry } from '../../durable/entries.ts';
import {
  type JournalFormat,
  type JournalStore as JournalStoreOf,
  type JournalWriter as JournalWriterOf,
  type ListedJournal,
  newestFirst,
  type OpenedJournal as OpenedJournalOf,
  redactStrings,
} from '../../durable/journals/journal-store.ts';
import { readEntry, storedEntry } from './stored-entries.ts';

/** Writes the journal of one run. By default a failing journal does not stop its run; one that another process has taken over does. */
export type JournalWriter = JournalWriterOf<JournalEntry>;
/** The journal of a run to continue. */
export type OpenedJournal = OpenedJournalOf<JournalEntry>;
/** Stores the journals of runs, listed newest first. */
export type JournalStore = JournalStoreOf<JournalEntry, RunSummary>;

/** The entries that are synced with `fsync: 'checkpoint'`. */
const CHECKPOINTS: ReadonlySet<JournalEntry['type']> = new Set(['start', 'phase-end', 'decision', 'end']);

export const RUN_JOURNALS: JournalFormat<JournalEntry, RunSummary> = {
  noun: 'run',
  parse: parseEntry,
  toJson: storedEntry,
  summarize,
  compare: newestFirst,
  hostData: (first) => Object(Object(first).product).host,
  startedAt: (first) => (first.type === 'start' ? startedAtOf(first) : ''),
  endStatuses: ['completed', 'degraded', 'cancelled'] satisfies RunStatus[],
  isCheckpoint: ({ type }) => CHECKPOINTS.has(type),
  isEnd: ({ type }) => type === 'end',
  isReadAlone: ({ type }) => type === 'closed',
  isNote: ({ type }) => type === 'text-delta' || type === 'prompt',
  redact: (entry, redact) => redactStrings(asRedacted(entry), redact),
  isRedacted: (start) => start.type === 'start' && start.product.redacted,
};

function parseEntry(value: unknown): JournalEntry {
  const machine = otherMachineIn(value);
  if (machine !== undefined) throw new Error(`an actor of the machine ${JSON.stringify(machine)}, not a run`);
  const entry = readOrThrow(durableFormat.parse(value));
  const { seq, type } = entry;
  const [issue] = issuesOf(entry);
  if (issue !== undefined)
    throw new Error(`not a journal entry (${issue.path.join('.') || 'value'}: ${issue.message})`);
  if (seq === 0 && type !== 'start') throw new Error(`expected "start"; received "${type}"`);
  if (seq !== 0 && type === 'start') throw new Error('a second "start" in one journal');
  return entry;
}

function readOrThrow(stored: DurableEntry): JournalEntry {
  try {
    return readEntry(stored);
  } catch {
    throw new Error(`not an entry of a run (type: ${JSON.stringify(stored.type)})`);
  }
}

/** Returns an entry from its stored form, which nothing has checked; null if it has none. */
export function tryRead(value: unknown): unknown {
  try {
    return readEntry(value as DurableEntry);
  } catch {
    return null;
  }
}

function issuesOf(value: unknown): readonly z.core.$ZodIssue[] {
  try {
    return journalEntrySchema.safeParse(value).error?.issues ?? [];
  } catch {
    // The schema is recursive: deeply nested input overflows the stack.
    throw new Error('nested too deeply');
  }
}

/**
 * Returns an entry as a redacted journal stores it. The start is marked. Attachments have no bytes. Streamed text is empty, because a
 * secret may be split across two deltas; the whole text follows in the reply, which is redacted.
 */
export function asRedacted(entry: JournalEntry): JournalEntry {
  if (entry.type === 'start') return { ...entry, product: { ...entry.product, redacted: true } };
  return entry.type === 'text-delta' ? { ...entry, text: '' } : withoutBytes(entry);
}

/** Returns an entry without the bytes of an attachment, as it is shown, exported and redacted. */
export function withoutBytes(entry: JournalEntry): JournalEntry {
  return entry.type === 'attachment' ? { ...entry, data: '' } : entry;
}

/** Returns the first entry of a journal. Throws `invalid_journal` if it is not `start`. */
export function runStartOf([start]: readonly JournalEntry[]): RunStart {
  if (start?.type === 'start') return start;
  throw new PostChainError(
    'invalid_journal',
    `A journal must begin with "start"; received ${start === undefined ? 'an empty journal' : `"${start.type}"`}`,
  );
}

export function startedAtOf({ startedAt, product }: z.infer<typeof startSchema>): string {
  return product.fork?.forkedAt ?? startedAt;
}

/** Returns the run and the entry that a run was forked from, or null if it is not a fork. */
export const originOf = ({ forkedFrom }: Pick<RunStart, 'forkedFrom'>): RunSummary['forkedFrom'] =>
  forkedFrom && { actorId: forkedFrom.actorId, seq: forkedFrom.seq };

/** The machine of another actor of the durable host, whose journal this entry starts; undefined if it starts none. */
function otherMachineIn(first: unknown): string | undefined {
  const { type, machine } = Object(first) as Partial<StartEntry>;
  return type === 'start' && typeof machine?.id === 'string' && !isStartOfRun(first) ? machine.id : undefined;
}

/** The id of the chain's machine. */
const CHAIN = 'postChain';

/** Whether an entry starts a run, not another actor. A durable machine of your own may host the chain's machine. */
export function isStartOfRun(entry: unknown): boolean {
  const { type, machine, product } = Object(entry) as Partial<StartEntry>;
  return type === 'start' && machine?.id === CHAIN && product !== null;
}

function summarize({ id, first, last, isDamaged, isWritten }: ListedJournal): RunSummary | null {
  if (otherMachineIn(first) !== undefined) return null;
  const start = startSchema.safeParse(tryRead(first));
  if (!start.success) return { id, request: '', startedAt: '', forkedFrom: null, status: 'damaged', waiting: null };
  const { input } = start.data;
  const waiting = isDamaged || isWritten ? null : waitOf(last);
  return {
    id,
    request: input.request,
    startedAt: startedAtOf(start.data),
    forkedFrom: originOf(start.data),
    status: isDamaged ? 'damaged' : (endOf(last) ?? (isWritten ? 'running' : waiting ? 'waiting' : 'interrupted')),
    waiting,
  };
}

/** Returns what the last entry says that a run waits for. */
function waitOf(last: unknown): RunWait | null {
  const { waiting, summary = { for: 'timer', questionIds: [] } } = closedSchema.safeParse(tryRead(last)).data ?? {};
  if (waiting === undefined) return null;
  const { sinceMs, dueAtMs } = waiting;
  return { ...summary, since: isoOf(sinceMs), due: dueAtMs === null ? null : isoOf(dueAtMs) };
}

const isoOf = (ms: number): string => new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString();

/** The last time that a `Date` can represent. */
const LAST_MS = 8.64e15;

/** Returns the status in the last entry of a run; null if that does not end the run, or cannot be read alone. */
function endOf(last: unknown): RunStatus | null {
  if (last === undefined) return null;
  const end = lastSchema.safeParse(tryRead(last));
  if (!end.success) return 'damaged';
  return 'summary' in end.data ? end.data.summary.status : null;
}

const startSchema = z.object({
  type: z.literal('start'),
  input: z.object({ request: z.string() }),
  product: z.object({ fork: z.nullable(z.object({ forkedAt: z.iso.datetime() })) }),
  startedAt: z.iso.datetime(),
  forkedFrom: z.nullable(z.object({ actorId: z.string(), seq: z.int(), clockStartMs: z.number() })),
});
const lastSchema = z.union([
  z.object({ type: z.literal('end'), summary: z.object({ status: z.enum(['completed', 'degraded', 'cancelled']) }) }),
  z.object({ type: z.string().check(z.refine((type) => type !== 'end')) }),
]);
