import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { parseJson } from '../../internal/json-text.ts';
import type { Clock } from '../clock.ts';
import type { Json } from '../codec.ts';
import { type Attributes, type DurableEntry, hasState, type Waiting } from '../entries.ts';
import type { Mailbox } from './mailbox.ts';
import type { ClaimQuery } from './queue.ts';

/** The fields of every journal entry. */
export interface StoredEntry {
  /** Counts from 0 without gaps. */
  readonly seq: number;
  /** Milliseconds since the start. */
  readonly atMs: number;
  readonly type: string;
}

/** Writes one journal, in order. What is written survives a killed process. */
export interface JournalWriter {
  /** Why no more entries are written, for example a full disk; null otherwise. */
  readonly failure: string | null;
  /** Whether the failure is that another process has taken over the journal. */
  readonly isFenced?: boolean;
  /**
   * The number of entries between two keyframes, for a store that can start reading at a keyframe. If it is undefined, no keyframes are
   * written.
   */
  readonly keyframeEvery?: number | undefined;
  /**
   * Writes the entries of one step. The host starts the step's calls, and continues, when they are written: at once, or when the returned
   * promise resolves. `isLast`: `close` follows, so that a store may already release the journal.
   */
  write(entries: readonly DurableEntry[], isLast?: boolean): void | Promise<void>;
  /** Releases the journal: no more entries follow. */
  close(): void | Promise<void>;
}

/** An existing journal to continue: its complete entries, and a writer for the next ones. */
export interface OpenedJournal {
  readonly entries: readonly DurableEntry[];
  readonly writer: JournalWriter;
  /** Whether messages wait for the actor in `mail`. */
  readonly hasMail?: boolean;
}

export interface ReadJournalOptions {
  /** Whether the entries between the first one and the last keyframe but one may be left out. */
  readonly fromKeyframe?: boolean;
}

export interface OpenJournalOptions extends ReadJournalOptions {
  /** Takes over the journal even if its writer may still be running, for example on another host. */
  readonly force?: boolean;
  /**
   * If only heartbeats can show whether the writer, on another host, is still running: whether to watch for one for up to ten seconds; by default
   * true. Otherwise rejects with `journal_held` at once if it seems to be.
   */
  readonly wait?: boolean;
}

export interface FollowOptions {
  /** The number of the first entry; 0 by default. */
  readonly from?: number;
  /** Ends the iteration, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** An actor in a list. */
export interface ActorSummary {
  readonly id: string;
  /** The id and version of its machine; null if the journal cannot be read. */
  readonly machine: { readonly id: string; readonly version: string | null } | null;
  /** The member `title` or `request` of its input, if that is a text; empty otherwise. */
  readonly title: string;
  /** When the actor (for a fork of a run: the fork) started, in ISO 8601; empty if the journal cannot be read. */
  readonly startedAt: string;
  /**
   * `running`: a process holds it. `waiting`: none does, and it only waits for what `waiting` lists. `interrupted`: none does, and it was
   * killed, or closed while something was in progress, so a worker continues it. `queued`: it has not begun; a worker begins it.
   */
  readonly status: 'running' | 'waiting' | 'interrupted' | 'queued' | 'done' | 'error' | 'stopped' | 'damaged';
  /** Why it has failed (`error`), or why workers no longer continue it (`interrupted`: it is quarantined); null for neither. */
  readonly reason: string | null;
  readonly forkedFrom: { readonly actorId: string; readonly seq: number } | null;
  /** The number of the last entry. */
  readonly lastSeq: number;
  /** The result of `describeEnd`; null for none, and before the end. */
  readonly summary: Json;
  /** The result of `describeAttributes` after its last step. */
  readonly attributes: Attributes;
  /** What it waits for, with the result of `describeWait`; null while a process holds it, and after a kill until it is continued. */
  readonly waiting: (Waiting & { readonly summary: Json }) | null;
  /** Its place in the queue; left out unless it is `queued`. */
  readonly queued?: Queued;
}

/** The place of an actor in the queue of its machine. */
export interface Queued {
  readonly priority: number;
  /** Null for none. */
  readonly key: string | null;
  /** The earliest time at which it begins, in milliseconds since the epoch. */
  readonly beginsAtMs: number;
}

/** The place of a journal in a list. */
interface ListPlace {
  /** ISO 8601. */
  readonly startedAt: string;
}

type AttributeValue = Attributes[string];

/** The filters of a list: a journal must match all of them. */
export interface ListOptions {
  /** The id of the machine. */
  readonly machine?: string;
  /** The status, or one of these. */
  readonly status?: ActorSummary['status'] | readonly ActorSummary['status'][];
  /** The type of an event that it waits for, `approval` for an approval, or the member `for` of the result of `describeWait`. */
  readonly waitingFor?: string;
  /** It waits, and its next delay ends by this time, in milliseconds since the epoch. */
  readonly dueBefore?: number;
  /**
   * Members of its attributes, of its `product` (of a run: its `host`), or of the last result of `describeWait` or `describeEnd`: each has the
   * value, or one of these.
   */
  readonly where?: Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>;
  /** The last summary of a page, to get the next page, or `{ startedAt }`, to get those that started earlier. */
  readonly after?: ActorSummary | ListPlace;
  /** At most this many, a whole number of at least 0; by default all. */
  readonly limit?: number;
}

interface PruneOptions {
  /** Deletes journals whose last entry was written at least this many milliseconds ago. */
  readonly olderThanMs: number;
  /** Only journals with this status, or one of these; by default all that have ended. */
  readonly status?: ActorSummary['status'] | readonly ActorSummary['status'][];
}

/** Reads a journal that may grow. */
export interface JournalTail {
  /** Yields the JSON of the entries that earlier calls did not yield, several at a time. Rejects with `unknown_journal` or `invalid_journal`. */
  read(): AsyncIterable<readonly string[]>;
}

export interface BoundsQuery {
  /** The journals to read; by default all. */
  readonly ids?: readonly string[] | undefined;
  /** Whether the entries of a journal in this version are not needed. */
  readonly isKnown?: ((id: string, version: string) => boolean) | undefined;
  /** Receives the number of journals before the first of them is read. */
  readonly onFound?: ((count: number) => void) | undefined;
}

/** The first and last entries of a journal, from which lists are made. */
export interface JournalBounds {
  readonly id: string;
  /** Changes with every entry. */
  readonly version: string;
  /** Null if the version is known. */
  readonly ends: JournalEnds | null;
  /** Whether a process is writing the journal. */
  readonly isWritten: boolean;
  /** Whether the journal can be claimed, now or later; by default not. */
  readonly isQueued?: boolean;
}

export interface JournalEnds {
  /** The first entry in its stored form: parsed JSON, not validated. Undefined if it cannot be read. */
  readonly first: unknown;
  /** At most 8 of the last entries, the last one at the end; none if they cannot be read without the entries before. */
  readonly last: readonly unknown[];
  /** The number of the last entry; -1 for none. */
  readonly lastSeq: number;
  /** The last attributes in their stored form, not validated; undefined for none. */
  readonly attributes?: unknown;
  /** Whether the first or last entry cannot be read at all. Other damage is found only by reading the journal. */
  readonly isDamaged: boolean;
}

/**
 * Stores journals by id. A journal has one writer at a time. Every method throws or rejects with `journal_held` if another writer has the
 * journal, `journal_exists` if it is already there (`create`), `unknown_journal` if it is missing, and `invalid_journal` if it is damaged.
 */
export interface JournalStore {
  /** Starts a journal. A store that finds out only at the first write that the id is taken fails that write, and has the method `has`. */
  create(id: string): JournalWriter;
  /** Whether a journal exists. Only for stores whose `create` does not throw for an existing one. */
  has?(id: string): Promise<boolean>;
  /** The entries of a journal, in order. A torn last line, as a kill leaves it, is skipped. */
  read(id: string, options?: ReadJournalOptions): AsyncIterable<DurableEntry>;
  /** Opens a journal to continue it; a torn last line is dropped. */
  open(id: string, options?: OpenJournalOptions): Promise<OpenedJournal>;
  /** The journals, the latest start first; journals that started at the same time by id. */
  list(options?: ListOptions): Promise<readonly ActorSummary[]>;
  /**
   * Ids of waiting actors whose next delay ends by `dueBefore`, in the order in which a worker continues them; if there are many, at least 100
   * of them. By default, workers use `list`.
   */
  due?(machine: string, dueBefore: number): Promise<readonly string[]>;
  /**
   * Yields every entry once, in order, as it is written, also by another process, until an entry ends the journal. Until then, it keeps its
   * process alive. Rejects with `unknown_journal` if the journal is deleted, also if one with its id is created again.
   */
  follow?(id: string, options?: FollowOptions): AsyncIterableIterator<DurableEntry>;
  /** Returns a reader of a journal, for programs that follow many. By default, they `read` it from the start each time. */
  tail?(id: string): JournalTail;
  /** The first and last entries of journals that exist, in any order. By default, programs use `list`. */
  bounds?(query?: BoundsQuery): AsyncIterable<JournalBounds>;
  /** Reports journals that are new, have grown or are gone; null if any may have. Does not keep its process alive. Returns a function that stops it. */
  changes?(onChange: (ids: readonly string[] | null) => void): () => void;
  /** Whether reading checks a checksum of every entry. */
  readonly hasChecksums?: boolean;
  /**
   * Returns the ids of the queued journals of a machine that may begin, in order. From then on, they are interrupted instead of queued: no other
   * call returns them. Without it, the store has no queue.
   */
  claim?(query: ClaimQuery): Promise<readonly string[]>;
  /** Messages for actors; deleting a journal deletes them. Without it, nothing can be sent to an actor that another process holds. */
  readonly mail?: Mailbox;
  /** The time of the server, which all processes share. By default, durable machines use the time of their process. */
  readonly clock?: Clock;
  /** Deletes a journal that no process is writing. */
  delete?(id: string): Promise<void>;
  /** Deletes the old journals that no process is writing. Returns how many. */
  prune?(options: PruneOptions): Promise<number>;
}

type Optional = 'has' | 'claim' | 'mail' | 'clock';
/** A store that has all optional members except `has`, `claim`, `mail` and `clock`. */
export type Journals = Required<Omit<JournalStore, Optional>> & Pick<JournalStore, Optional>;

/** Returns the text to write instead of the given text. */
export type Redact = (text: string) => string;

/** Encrypts or otherwise transforms the lines of journals. An encoded line must contain neither line breaks nor zero characters. */
export interface LineCodec {
  encode(line: string): string;
  /** Reverses `encode`. Throws if it cannot, for example with another key. */
  decode(line: string): string;
}

type Fsync = 'never' | 'checkpoint' | 'always';

export interface JournalStoreOptions {
  /**
   * Receives every text of an entry before it is written and returns the text to write instead; the same text must always give the same
   * result. A store with `redact` does not open a journal that was started without it. If it throws, nothing more is written.
   */
  readonly redact?: Redact;
  /** Encodes the stored lines, for example to encrypt them. Ids, times and the order of entries stay readable. */
  readonly codec?: LineCodec;
  /**
   * When written entries are synced to disk, so that they survive a power failure: `never` (the default), at each `checkpoint`, or
   * `always`, after every step.
   */
  readonly fsync?: Fsync;
}

/** The parts of a journal that a summary is made of. */
export interface ListedJournal extends Omit<JournalEnds, 'last'>, Pick<JournalBounds, 'id' | 'isWritten' | 'isQueued'> {
  readonly last: unknown;
}

/** Returns what `summarize` of a format takes. */
export function listedJournal({
  id,
  ends,
  isWritten,
  isQueued = false,
}: Omit<JournalBounds, 'version'>): ListedJournal {
  const { first, last = [], lastSeq = -1, isDamaged = true, attributes } = ends ?? {};
  return { id, first, last: last.at(-1), lastSeq, isDamaged, isWritten, isQueued, attributes };
}

/** Returns the filter of texts such as `total=40`, which may be the text or the number. Those with the same name are alternatives. */
export function whereOf(texts: readonly string[]): NonNullable<ListOptions['where']> {
  const where: Record<string, AttributeValue[]> = {};
  for (const text of texts) {
    const [, name, value = ''] = /^([^=]+)=(.*)$/su.exec(text) ?? [];
    if (name === undefined)
      throw new PostChainError('invalid_option', `where: expected NAME=VALUE; received ${describeValue(text)}.`);
    const parsed = parseJson(value);
    const others = parsed === undefined || Object(parsed) === parsed ? [] : [parsed as AttributeValue];
    where[name] = [...(where[name] ?? []), value, ...others];
  }
  return where;
}

/** Compares by start, the newest first, and then by id. A place without an id sorts after all journals that started at the same time. */
export function newestFirst(one: ListPlace & { id?: string }, other: ListPlace & { id?: string }): number {
  const compare = (a = '\u{10ffff}', b = '\u{10ffff}'): number => (a < b ? -1 : a > b ? 1 : 0);
  return compare(other.startedAt, one.startedAt) || compare(one.id, other.id);
}

/** Returns a JSON value with every string replaced. */
export function redactStrings<Value>(value: Value, redact: Redact): Value {
  return JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? redact(inner) : inner)));
}

/** A store may list only some of many due actors. After a list of this length, there may be more. */
export const FULL_LIST = 100;

/** The number of entries between two keyframes. Continuing an actor replays about twice as many. */
export const KEYFRAME_EVERY = 1_000;

/** Leaves out the entries between the first one and the last keyframe but one. The entries after that keyframe verify it. */
export function fromKeyframe(entries: readonly DurableEntry[]): readonly DurableEntry[] {
  const last = entries.findLastIndex(hasState);
  const from = last < 1 ? -1 : entries.findLastIndex((entry, at) => at < last && hasState(entry));
  return from < 1 ? entries : [...entries.slice(0, 1), ...entries.slice(from)];
}

/**
 * Returns when the last entry of a journal was written, in milliseconds since the epoch. `atMs` may leave out the time before a process
 * resumed the journal.
 */
export async function lastWrittenMs(startedAt: string, journal: AsyncIterable<StoredEntry>): Promise<number> {
  let zeroMs = Date.parse(startedAt);
  let lastMs = 0;
  for await (const { atMs, ...entry } of journal) {
    if ('resumedAt' in entry) zeroMs = Date.parse(String(entry.resumedAt)) - atMs;
    lastMs = atMs;
  }
  return zeroMs + lastMs;
}

export async function entriesOf<Entry>(journal: AsyncIterable<Entry> | Iterable<Entry>): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of journal) entries.push(entry);
  return entries;
}
