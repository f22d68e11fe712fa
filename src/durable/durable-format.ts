import type { Json } from './codec.ts';
import { type DurableEntry, isExternal, JOURNAL_FORMAT, type StartEntry, type Waiting } from './entries.ts';
import { type JournalFormat, type ListedJournal, newestFirst, redactStrings } from './journals/journal-store.ts';

/** An actor in a list. */
export interface ActorSummary {
  readonly id: string;
  /** The id and version of its machine; null if the journal cannot be read. */
  readonly machine: { readonly id: string; readonly version: string | null } | null;
  /** ISO 8601; empty if the journal cannot be read. */
  readonly startedAt: string;
  /**
   * `running`: a process holds it. `waiting`: none does, and it only waits for what `waiting` lists. `interrupted`: none does, and it was
   * killed, or closed while something was in progress, so a worker continues it.
   */
  readonly status: 'running' | 'waiting' | 'interrupted' | 'done' | 'error' | 'stopped' | 'damaged';
  readonly forkedFrom: { readonly actorId: string; readonly seq: number } | null;
  /** The number of the last entry. */
  readonly lastSeq: number;
  /** What it waits for, with the result of `describeWait`; null while a process holds it, and after a kill until it is continued. */
  readonly waiting: (Waiting & { readonly summary: Json }) | null;
}

const ENDS = ['done', 'error', 'stopped'] as const;

/** How stores keep the entries of durable actors. */
export const durableFormat: JournalFormat<DurableEntry, ActorSummary> = {
  noun: 'actor',
  parse(value) {
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
  summarize: summaryOf,
  compare: newestFirst,
  startedAt: (first) => (first.type === 'start' ? first.startedAt : ''),
  endStatuses: ENDS,
  isCheckpoint: ({ type }) => type === 'start' || type === 'end',
  isEnd: (entry) => endedAs(entry) !== undefined,
  isReadAlone: ({ type }) => type === 'closed',
  isKeyframe: ({ type }) => type === 'keyframe',
  isNote: ({ type }) => type === 'note',
  redact: redactStrings,
};

/** An actor has ended when its last effects have. */
function endedAs(last: Partial<DurableEntry>): 'done' | 'error' | 'stopped' | undefined {
  const isEnd = last.type === 'effect-end' || (last.type === 'end' && last.openEffects === undefined);
  return isEnd ? ENDS.find((status) => status === last.status) : undefined;
}

function summaryOf({ id, first, last, lastSeq, isDamaged, isWritten }: ListedJournal): ActorSummary {
  const start = Object(first) as Partial<DurableEntry>;
  const end = Object(last) as Partial<DurableEntry>;
  const waits = end.type === 'closed' ? end.waiting : undefined;
  if (isDamaged || !isStart(start) || (waits !== undefined && !isWaiting(waits)))
    return { id, machine: null, startedAt: '', status: 'damaged', forkedFrom: null, lastSeq, waiting: null };
  const { machine, startedAt, forkedFrom } = start;
  const waiting = isWritten ? null : waitingIn(end);
  const status = endedAs(end) ?? (isWritten ? 'running' : waiting ? 'waiting' : 'interrupted');
  const origin = forkedFrom ? { actorId: forkedFrom.actorId, seq: forkedFrom.seq } : null;
  return { id, machine, startedAt, status, forkedFrom: origin, lastSeq, waiting };
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
