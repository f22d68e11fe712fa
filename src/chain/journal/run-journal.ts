import {
  type JournalEntry,
  journalEntrySchema,
  type RunSummary,
  type RunWait,
} from '../../../machines/contracts/journal.ts';
import type { DurableEntry, StartEntry } from '../../durable/entries.ts';
import { damagedAt } from '../../durable/journals/journal-lines.ts';
import { type ActorSummary, entriesOf } from '../../durable/journals/journal-store.ts';
import { readEntry } from './stored-entries.ts';

/** The id of the chain's machine. */
export const CHAIN = 'postChain';

/** Whether an entry starts a run, not another actor. A durable machine of your own may host the chain's machine. */
export function isStartOfRun(entry: unknown): boolean {
  const { type, machine, product } = Object(entry) as Partial<StartEntry>;
  return type === 'start' && machine?.id === CHAIN && product !== null;
}

/** Whether a journal in a list is that of a run. One that cannot be read may be. */
export const isRun = ({ machine }: Pick<ActorSummary, 'machine'>): boolean => machine === null || machine.id === CHAIN;

/**
 * Yields the typed entries of a run from its journal: `journals.read(id)` or `journals.follow(id)` of a store. Events that its charts emit, and
 * notes, become entries of their own type. Throws `invalid_journal` if the actor is not a run, or an entry is not one of a run.
 */
export async function* runEntries(journal: AsyncIterable<DurableEntry>): AsyncGenerator<JournalEntry> {
  let actorId = '';
  for await (const entry of journal) {
    if (entry.type === 'start') ({ actorId } = entry);
    yield parseRunEntry(entry, actorId);
  }
}

/** Returns all entries of a run, as `runEntries` yields them. */
export const readRun = (journal: AsyncIterable<DurableEntry>): Promise<readonly JournalEntry[]> =>
  entriesOf(runEntries(journal));

/** Returns the entries of a run from those of its journal. Throws as `runEntries` does. */
export function parseRun(journal: readonly DurableEntry[]): readonly JournalEntry[] {
  const [start] = journal;
  const actorId = start?.type === 'start' ? start.actorId : '';
  return journal.map((entry) => parseRunEntry(entry, actorId));
}

/** Returns an entry of a run from its stored form. Throws `invalid_journal`; `actorId` names the run. */
export function parseRunEntry(stored: DurableEntry, actorId: string): JournalEntry {
  const place = `run ${actorId}`;
  const { seq, type } = stored;
  if (type === 'start' && !isStartOfRun(stored))
    throw damagedAt(place, seq, `an actor of the machine ${JSON.stringify(stored.machine?.id)}, not a run`);
  if (seq === 0 && type !== 'start') throw damagedAt(place, seq, `expected "start"; received "${type}"`);
  if (seq !== 0 && type === 'start') throw damagedAt(place, seq, 'a second "start" in one journal');
  const entry = tryRead(stored) as JournalEntry | null;
  if (entry === null) throw damagedAt(place, seq, `not an entry of a run (type: ${JSON.stringify(type)})`);
  const problem = problemIn(entry);
  if (problem !== null) throw damagedAt(place, seq, problem);
  return entry;
}

/** Returns an entry from its stored form, which nothing has checked; null if it has none. */
export function tryRead(value: unknown): unknown {
  try {
    return readEntry(value as DurableEntry);
  } catch {
    return null;
  }
}

function problemIn(value: unknown): string | null {
  try {
    const [issue] = journalEntrySchema.safeParse(value).error?.issues ?? [];
    return issue === undefined ? null : `not a journal entry (${issue.path.join('.') || 'value'}: ${issue.message})`;
  } catch {
    // The schema is recursive: deeply nested input overflows the stack.
    return 'nested too deeply';
  }
}

/** What browsers show as a picture and cannot contain scripts. */
const PICTURE = /^image\/(?:avif|gif|jpeg|png|webp)$/u;

/** In characters of Base64: 2 MB. */
const MAX_PICTURE_CHARS = 2_800_000;

/** Returns an entry as pages have it: without the bytes of an attachment, unless it is a picture of at most 2 MB. */
export function withPictures(entry: JournalEntry): JournalEntry {
  const isPicture = entry.type === 'attachment' && PICTURE.test(entry.mediaType);
  return isPicture && entry.data.length <= MAX_PICTURE_CHARS ? entry : withoutBytes(entry);
}

/** Returns an entry without the bytes of an attachment. */
export function withoutBytes(entry: JournalEntry): JournalEntry {
  return entry.type === 'attachment' ? { ...entry, data: '' } : entry;
}

/** Returns what lists show of a run: an actor of the chain. Its result says how the run ended. */
export function runSummary({ id, title, startedAt, status, forkedFrom, summary, waiting }: ActorSummary): RunSummary {
  // Any program may have written the journal.
  const end = ENDS.find((one) => one === Object(summary).status);
  const isOpen = status === 'running' || status === 'waiting' || status === 'interrupted';
  return {
    id,
    request: title,
    startedAt,
    forkedFrom,
    status: isOpen ? status : (end ?? 'damaged'),
    waiting: waiting && waitOf(waiting),
  };
}

const ENDS = ['completed', 'degraded', 'cancelled'] as const;

function waitOf({ sinceMs, dueAtMs, summary }: NonNullable<ActorSummary['waiting']>): RunWait {
  const { for: subject, questionIds } = Object(summary) as { readonly for?: unknown; readonly questionIds?: unknown };
  return {
    for: isText(subject) ? subject : 'timer',
    questionIds: [questionIds].flat().filter(isText),
    since: isoOf(sinceMs),
    due: dueAtMs === null ? null : isoOf(dueAtMs),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isoOf = (ms: number): string => new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString();

/** The last time that a `Date` can represent. */
const LAST_MS = 8.64e15;
