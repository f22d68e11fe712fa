import type { Json } from './codec.ts';
import {
  type Attributes,
  type DurableEntry,
  hasState,
  isExternal,
  isRedacted,
  JOURNAL_FORMAT,
  type StartEntry,
  type Waiting,
} from './entries.ts';
import {
  type ActorSummary,
  type ListedJournal,
  newestFirst,
  type Queued,
  type Redact,
  redactStrings,
} from './journals/journal-store.ts';

const ENDS = ['done', 'error', 'stopped'] as const;

/** How stores keep the entries of durable actors. */
export const durableFormat = {
  /** Returns a parsed JSON value as an entry. Throws an error that names what is invalid. */
  parse(value: unknown): DurableEntry {
    const entry = Object(value) as Partial<DurableEntry>;
    if (!Number.isInteger(entry.seq))
      throw new Error(`seq: expected an integer; received ${JSON.stringify(entry.seq)}`);
    if (typeof entry.atMs !== 'number')
      throw new Error(`atMs: expected a number; received ${JSON.stringify(entry.atMs)}`);
    if (typeof entry.type !== 'string')
      throw new Error(`type: expected a string; received ${JSON.stringify(entry.type)}`);
    if (entry.type === 'start' && entry.format !== JOURNAL_FORMAT)
      throw new Error(`format: expected ${JOURNAL_FORMAT}; received ${JSON.stringify(entry.format)}`);
    return value as DurableEntry;
  },
  /** Returns what lists show of a journal. */
  summarize: summaryOf,
  /** The order of lists, as in `Array.sort`. */
  compare: newestFirst,
  /** When a journal with this first entry started, as in its summary. */
  startedAt: (first: DurableEntry): string => (first.type === 'start' ? startedAtOf(first) : ''),
  /** Returns the names and values that `where` of a list compares. Nothing has checked these parts of a journal. */
  comparedIn: ({ first, last, attributes }: Pick<ListedJournal, 'first' | 'last' | 'attributes'>) => {
    const { product } = Object(first) as Partial<StartEntry>;
    const { host = product } = Object(product) as { readonly host?: unknown };
    const { summary } = Object(last) as { readonly summary?: unknown };
    return [host, summary, attributes].flatMap((each) =>
      typeof each === 'object' ? Object.entries(each ?? {}).filter(([, value]) => Object(value) !== value) : [],
    ) as readonly (readonly [name: string, value: Attributes[string]])[];
  },
  /** The statuses that a summary has only after the end of its journal. */
  endStatuses: ENDS,
  /** Whether an entry is synced with `fsync: 'checkpoint'`. */
  isCheckpoint: ({ type }: DurableEntry): boolean => type === 'start' || type === 'emitted' || type === 'end',
  /** Whether an entry ends its journal. It is stored such that a list can read it without the entries before it. */
  isEnd: (entry: DurableEntry): boolean => endedAs(entry) !== undefined,
  /** Whether lists also read this entry. Like an end, it is stored so that it can be read without the entries before it. */
  isReadAlone: ({ type }: DurableEntry): boolean => type === 'closed' || type === 'quarantined' || type === 'queued',
  /** Returns the place in the queue that an entry, which nothing has checked, gives its actor; undefined for any other entry. */
  queuedIn,
  /** Returns the attributes that an entry changes; undefined for any other entry. */
  attributesIn: (entry: DurableEntry): Attributes | undefined =>
    entry.type === 'attributes' ? entry.attributes : undefined,
  /** Whether the journal can be read from an entry on. */
  isKeyframe: hasState,
  /** Whether an entry is a note, which may be written between steps. */
  isNote: ({ type }: DurableEntry): boolean => type === 'note',
  /** Returns an entry as a store with `redact` writes it. */
  redact: (entry: DurableEntry, redact: Redact): DurableEntry => redactStrings(asRedacted(entry), redact),
  /** Whether a journal that starts with this entry is redacted. A store with `redact` continues no other journals. */
  isRedacted: (first: DurableEntry): boolean => first.type === 'start' && isRedacted(first),
};

/**
 * Returns an entry as a redacted journal stores it. The start is marked. Attachments have no bytes. Streamed text is empty, because a
 * secret may be split across two pieces; the whole text follows in the reply, which is redacted.
 */
function asRedacted(entry: DurableEntry): DurableEntry {
  if (entry.type === 'start') return { ...entry, redacted: true };
  const { type, ...note } = Object(entry.type === 'note' ? entry.note : null) as Readonly<Record<string, Json>>;
  if (type === 'text-delta') return { ...entry, note: { ...note, type, text: '' } } as DurableEntry;
  return type === 'attachment' ? ({ ...entry, note: { ...note, type, data: '' } } as DurableEntry) : entry;
}

/** A fork of a run keeps the start of its original. */
function startedAtOf({ product, startedAt, forkedFrom }: StartEntry): string {
  const { forkedAt } = Object(forkedFrom ?? Object(product).fork) as { readonly forkedAt?: unknown };
  return typeof forkedAt === 'string' ? forkedAt : startedAt;
}

/** An actor has ended when its last effects have. */
function endedAs(last: Partial<DurableEntry>): 'done' | 'error' | 'stopped' | undefined {
  const isEnd = last.type === 'effect-end' || (last.type === 'end' && last.openEffects === undefined);
  return isEnd ? ENDS.find((status) => status === last.status) : undefined;
}

function summaryOf({ id, first, last, lastSeq, isDamaged, isWritten, ...given }: ListedJournal): ActorSummary {
  const start = Object(first) as Partial<DurableEntry>;
  const end = Object(last) as Partial<DurableEntry>;
  const waits = end.type === 'closed' ? end.waiting : undefined;
  if (isDamaged || !isStart(start) || (waits !== undefined && !isWaiting(waits))) return { ...DAMAGED, id, lastSeq };
  const { forkedFrom } = start;
  const machine = (end.type === 'closed' && end.machine) || start.machine;
  const waiting = isWritten ? null : waitingIn(end);
  const queued = isWritten || !given.isQueued ? undefined : queuedIn(end);
  const status = endedAs(end) ?? (isWritten ? 'running' : waiting ? 'waiting' : queued ? 'queued' : 'interrupted');
  const origin = forkedFrom ? { actorId: forkedFrom.actorId, seq: forkedFrom.seq } : null;
  const summary = ((end.type === 'end' || end.type === 'effect-end') && end.summary) || null;
  const [title, startedAt] = [titleOf(start.input), startedAtOf(start)];
  return {
    id,
    machine,
    title,
    startedAt,
    status,
    reason: reasonIn(end),
    forkedFrom: origin,
    lastSeq,
    summary,
    attributes: Object(given.attributes) as Attributes,
    waiting,
    ...(queued && { queued }),
  };
}

/** Any program may have written the journal. */
function reasonIn(last: Partial<DurableEntry>): string | null {
  if (last.type === 'quarantined') return String(last.reason);
  if ((last.type !== 'end' && last.type !== 'effect-end') || last.status !== 'error') return null;
  const { message } = Object(Object(last.error).value) as { readonly message?: unknown };
  return typeof message === 'string' ? message : (JSON.stringify(last.error) ?? null);
}

const DAMAGED = {
  machine: null,
  title: '',
  startedAt: '',
  status: 'damaged',
  reason: null,
  forkedFrom: null,
  summary: null,
  attributes: {},
  waiting: null,
} as const;

function titleOf(input: Json): string {
  const { title, request } = Object(input) as Readonly<Record<string, unknown>>;
  return [title, request].find((text) => typeof text === 'string') ?? '';
}

/** Any program may have written the journal, so these members are checked before they are used. */
function isStart(first: unknown): first is StartEntry {
  const { type, machine, startedAt, forkedFrom } = Object(first) as Partial<StartEntry>;
  const { actorId, clockStartMs = 0 } = Object(forkedFrom) as Partial<NonNullable<StartEntry['forkedFrom']>>;
  const isFork = typeof actorId === 'string' && Math.abs(clockStartMs) <= LAST_MS;
  return (
    type === 'start' && typeof machine?.id === 'string' && typeof startedAt === 'string' && (!forkedFrom || isFork)
  );
}

/** The last time that a `Date` can represent. */
const LAST_MS = 8.64e15;

function isWaiting(value: unknown): value is Waiting {
  const { sinceMs, dueAtMs, events, approvals = [] } = Object(value) as Partial<Waiting>;
  const isDue = dueAtMs === null || typeof dueAtMs === 'number';
  const isList = (list: unknown, of: string): boolean =>
    Array.isArray(list) && list.every((one) => typeof one === of && one !== null);
  return typeof sinceMs === 'number' && isDue && isList(events, 'string') && isList(approvals, 'object');
}

function queuedIn(entry: Partial<DurableEntry>): Queued | undefined {
  if (entry.type !== 'queued') return undefined;
  const { priority, key = null, beginsAtMs } = entry;
  const isValid = Number.isInteger(priority) && Math.abs(Number(beginsAtMs)) <= LAST_MS;
  return isValid ? ({ priority, key: key === null ? null : String(key), beginsAtMs } as Queued) : undefined;
}

/** Returns what an actor waits for, from the last entry of its journal. */
function waitingIn(last: Partial<DurableEntry>): ActorSummary['waiting'] {
  return last.type === 'closed' && last.waiting ? { ...last.waiting, summary: last.summary ?? null } : null;
}

/** Returns where the step that contains an entry starts; never before the end of the first step. */
export function startOfStep(entries: readonly DurableEntry[], seq: number): number {
  const start = entries.findLastIndex((entry, at) => at <= seq && isExternal(entry));
  return start < 0 ? endOfStep(entries, 0) : start;
}

/** Returns where the step that contains an entry ends: the number of the next external entry, or the length of the journal. */
export function endOfStep(entries: readonly DurableEntry[], seq: number): number {
  const next = entries.findIndex((entry, at) => at > seq && isExternal(entry));
  return next < 0 ? entries.length : next;
}
