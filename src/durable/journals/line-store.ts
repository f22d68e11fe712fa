import { PostChainError } from '../../../machines/contracts/error.ts';
import { pauses } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { parseJson } from '../../internal/json-text.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { durableFormat } from '../durable-format.ts';
import type { DurableEntry, Waiting } from '../entries.ts';
import { isRaceLost } from '../error.ts';
import { requireKnown } from '../known-options.ts';
import { followJournal } from './follow-journal.ts';
import { guardedWriter } from './guarded-writer.ts';
import {
  attributesInLine,
  entriesInLine,
  hasKeyframe,
  type LineOptions,
  type LineReader,
  type LineWriter,
  lastSeqIn,
  lineReader,
  lineWriter,
  unreadable,
} from './journal-lines.ts';
import {
  type ActorSummary,
  type BoundsQuery,
  entriesOf,
  type JournalBounds,
  type JournalEnds,
  type JournalStoreOptions,
  type Journals,
  type JournalTail,
  type JournalWriter,
  KEYFRAME_EVERY,
  type LineCodec,
  type ListedJournal,
  type ListOptions,
  lastWrittenMs,
  listedJournal,
  type OpenJournalOptions,
  type Redact,
} from './journal-store.ts';
import { nameDigest } from './line-file.ts';
import { type LineMailbox, mailboxOn } from './mailbox.ts';
import type { ClaimQuery, QueuePlace } from './queue.ts';

/** Stores the lines of journals, for one writer at a time. Methods throw or reject with the codes of `JournalStore`. */
export interface JournalBackend {
  create(id: string): LineSink;
  /** The whole lines of a journal after the first `from`; a torn last line is left out. */
  lines(id: string, from?: number): AsyncIterable<string> | Iterable<string>;
  /** The whole lines of a journal, the last one first. By default, all `lines` are read. */
  linesBackward?(id: string): AsyncIterable<string> | Iterable<string>;
  /** Opens a journal for appending; a torn last line is dropped. */
  reopen(id: string, options: OpenJournalOptions): LineSink | Promise<LineSink>;
  /** Yields the journals of a query, by default all; it may yield others, too. */
  bounds(query?: LinesQuery): AsyncIterable<LineBounds> | Iterable<LineBounds>;
  /** Returns ids of journals that may be due, in the order in which to continue them; if there are many, only some. By default, `bounds` finds all. */
  sampleDue?(machine: string, dueBefore: number): Promise<readonly string[]>;
  /** As `changes` of `JournalStore`. By default, reports null twice a second. */
  watch?(onChange: (ids: readonly string[] | null) => void): () => void;
  /** Like `watch`, for one journal that a program follows, which keeps its process alive. By default, its version is polled. */
  watchOne?(id: string, onChange: () => void): () => void;
  /** As in `JournalStore`. */
  claim?(query: ClaimQuery): Promise<readonly string[]>;
  /** Removes a journal that no process is writing. */
  remove(id: string): void | Promise<void>;
  /** Deletes the given ended journals that no process has had open since `beforeMs` (Unix time). Returns their ids. */
  removeOld?(ids: readonly string[], beforeMs: number): Promise<readonly string[]>;
  /** As in `JournalStore`. */
  has?(id: string): Promise<boolean>;
  /** Whether `bounds` yields the journals in the order of lists. */
  readonly isOrdered?: boolean;
  /** Keeps messages for actors. Without it, no messages can be sent to actors that another process holds. */
  readonly mail?: LineMailbox;
}

/** The destination of one journal's lines. */
export interface LineSink {
  /** Of `reopen`: whether messages wait for the actor. */
  readonly hasMail?: boolean;
  /** Of `reopen`: returns the whole lines of the journal, if the backend has read them. */
  lines?(): AsyncIterable<string> | Iterable<string>;
  /** Appends the lines of one step. Throws or rejects if they cannot be written. */
  append(lines: readonly string[], options: AppendOptions): void | Promise<void>;
  close(): void | Promise<void>;
}

interface AppendOptions {
  /** Whether the lines must survive a power failure before `append` returns or resolves. */
  readonly sync: boolean;
  /** When the journal started; undefined unless these are its first lines. */
  readonly startedAt: string | undefined;
  readonly index: JournalIndex;
  /** Whether `close` follows, so that the journal may already be released with these lines. */
  readonly isLast: boolean;
}

/** What a backend may index, so that lists need not read other journals. */
export interface JournalIndex {
  /** The id of the machine; null if the start has none. */
  readonly machine: string | null;
  /** `open`: it is running or was interrupted. */
  readonly state: 'open' | 'waiting' | 'queued' | 'ended';
  /** When the next delay of an actor that waits ends, in milliseconds since the epoch; null for none. */
  readonly dueMs: number | null;
  /** What `where` finds it by; null if the lines are encoded, because these texts contain values of the actor. */
  readonly terms: readonly string[] | null;
  /** Its place in the queue; left out unless these lines enqueue it. The key is a digest. */
  readonly queued?: QueuePlace;
}

/** The journals that a backend reads. */
export interface LinesQuery extends BoundsQuery {
  /** The journals that a list needs. A backend may yield others, too. */
  readonly list?: {
    /** The latest start. */
    readonly startedAt: string | undefined;
    readonly machine: string | undefined;
    readonly states: readonly JournalIndex['state'][] | undefined;
    /** The latest `dueMs`. */
    readonly dueBefore: number | undefined;
    /** It has one of each of these. */
    readonly terms: readonly (readonly string[])[] | undefined;
  };
}

export interface LineBounds extends Omit<JournalBounds, 'ends'> {
  /** The first and last line; null if the version is known. */
  readonly lines: FirstAndLast | null;
}

export interface FirstAndLast {
  readonly first: string;
  readonly last: string;
}

/** The methods that every backend has. */
const BACKEND = ['create', 'reopen', 'lines', 'bounds', 'remove'];

/**
 * Keeps journals where you want, as lines of text: see `JournalBackend`. Throws `invalid_option` for a backend that lacks a method, and for an
 * unknown option.
 */
export function customJournals(backend: JournalBackend, options: JournalStoreOptions = {}): Journals {
  requireStoreOptions('customJournals', options);
  const missing = BACKEND.find((name) => typeof Object(backend)[name] !== 'function');
  if (missing !== undefined)
    throw new PostChainError(
      'invalid_option',
      `backend of customJournals: expected an object with the methods ${BACKEND.join(', ')}; received one without "${missing}".`,
    );
  return createLineStore(backend, options);
}

/** Returns the journal store that keeps its lines in a backend. */
export function createLineStore(given: JournalBackend, options: JournalStoreOptions & LineOptions): Journals {
  const backend = options.codec === undefined ? given : withCodec(given, options.codec);
  const store: Journals = {
    hasChecksums: true,
    tail: (id) => tailOf(backend, requireId(id)),
    bounds: (query) => boundsOf(backend, query),
    changes: (onChange) => backend.watch?.(onChange) ?? repeat(() => onChange(null)),
    create: (id) => writerTo(createSink(backend, requireId(id)), lineWriter(options), options),
    ...(backend.claim && { claim: (query) => backend.claim?.(query) ?? Promise.resolve([]) }),
    ...(backend.mail && { mail: mailboxOn(backend.mail) }),
    ...(backend.has && { has: async (id: string) => backend.has?.(requireId(id)) ?? false }),
    async *read(id, readOptions = {}) {
      requireId(id);
      requireKnown('read', readOptions);
      const late = readOptions.fromKeyframe ? await readFromKeyframe(backend, id) : null;
      if (late !== null) yield* late.entries;
      else yield* entriesIn(lineReader(placeOf(id)), linesIn(backend, id));
    },
    async open(id, openOptions = {}) {
      requireKnown('open of a store', openOptions);
      const sink = await backend.reopen(requireId(id), openOptions);
      try {
        const source = sink.lines === undefined ? backend : { lines: sink.lines };
        const late = openOptions.fromKeyframe ? await readFromKeyframe(source, id) : null;
        const { entries, reader } = late ?? (await readAll(source, id));
        if (options.redact !== undefined) requireRedacted(id, entries);
        const writer = writerTo(sink, reader.writer(options), options, entries[0]);
        return { entries, writer, hasMail: sink.hasMail === true };
      } catch (error) {
        await sink.close();
        throw error;
      }
    },
    follow(id, followOptions = {}) {
      requireKnown('follow', followOptions);
      const read = newEntriesOf(backend, requireId(id));
      const watch = (onChange: () => void) => backend.watchOne?.(id, onChange) ?? pollVersion(backend, id, onChange);
      return followJournal({ read, watch, isEnd: durableFormat.isEnd }, followOptions);
    },
    ...listing({
      ...backend,
      bounds: (query) => boundsOf(backend, query),
      read: (id) => store.read(id),
    }),
  };
  return store;
}

function tailOf(backend: JournalBackend, id: string): JournalTail {
  const reader = lineReader(placeOf(id));
  let count = 0;
  return {
    async *read() {
      const pause = pauses();
      for await (const line of linesIn(backend, id, count)) {
        count += 1;
        yield reader.read(line).map(({ json }) => json);
        await pause();
      }
      reader.end();
    },
  };
}

async function* boundsOf(backend: JournalBackend, query?: LinesQuery): AsyncGenerator<JournalBounds> {
  const pause = pauses();
  for await (const { id, version, lines, isWritten, isQueued } of backend.bounds(query)) {
    if (query?.ids?.includes(id) === false) continue;
    yield { id, version, ends: lines && endsOf(lines), isWritten, isQueued: isQueued === true };
    await pause();
  }
}

type LineSource = Pick<JournalBackend, 'lines' | 'linesBackward'>;

interface ReadJournal {
  readonly entries: readonly DurableEntry[];
  readonly reader: LineReader;
}

async function readAll(backend: LineSource, id: string): Promise<ReadJournal> {
  const reader = lineReader(placeOf(id));
  return { entries: await entriesOf(entriesIn(reader, linesIn(backend, id))), reader };
}

/** If fewer than two keyframes are among this many last lines, the journal is read from the start. */
const MAX_LINES_SEARCHED = 50 * KEYFRAME_EVERY;

/** Returns null if it must be read from the start, or if a line is damaged: reading the whole journal reports the damage. */
async function readFromKeyframe(backend: LineSource, id: string): Promise<ReadJournal | null> {
  const place = placeOf(id);
  const lines: string[] = [];
  let count = 0;
  let isWhole = true;
  try {
    for await (const line of backend.linesBackward?.(id) ?? (await entriesOf(backend.lines(id))).toReversed()) {
      lines.push(line);
      if (hasKeyframe(line)) count += 1;
      isWhole = false;
      if (count === 2 || lines.length > MAX_LINES_SEARCHED) break;
      isWhole = true;
    }
    if (isWhole) {
      const reader = lineReader(place);
      const entries = lines.toReversed().flatMap((line) => reader.read(line).map(({ entry }) => entry()));
      reader.end();
      return { entries, reader };
    }
    if (count < 2) return null;
    const reader = lineReader(place, { startsLate: true });
    const last = lines.toReversed().flatMap((line) => reader.read(line).map(({ entry }) => entry()));
    for await (const line of backend.lines(id)) {
      const [first] = lineReader(place).read(line);
      return first
        ? { entries: [first.entry(), ...last.slice(last.findIndex(durableFormat.isKeyframe))], reader }
        : null;
    }
  } catch {}
  return null;
}

/** `first` is the first entry of an existing journal. */
function writerTo(
  sink: LineSink,
  lines: LineWriter,
  { isPlain, fsync, redact }: JournalStoreOptions & LineOptions,
  first?: DurableEntry,
): JournalWriter {
  let start = first;
  const terms = redact === undefined ? knownTerms() : knownTerms((entry) => durableFormat.redact(entry, redact));
  return guardedWriter({
    keyframeEvery: isPlain === true ? undefined : KEYFRAME_EVERY,
    write(entries, isLast = false) {
      const isNew = start === undefined;
      start ??= entries[0];
      const text = lines.lines(entries);
      const listed = { first: start, last: entries.at(-1), attributes: lines.attributes };
      return sink.append(text, {
        sync: fsync === 'always' || (fsync === 'checkpoint' && entries.some(durableFormat.isCheckpoint)),
        startedAt: isNew && start !== undefined ? durableFormat.startedAt(start) : undefined,
        index: { ...indexOf({ ...listed, isQueued: true }, terms(listed)), ...queuedIn(listed.last, redact) },
        isLast,
      });
    },
    close: () => sink.close(),
  });
}

/** Returns a function that yields the entries that its earlier calls did not yield. */
function newEntriesOf(backend: JournalBackend, id: string): () => AsyncGenerator<DurableEntry> {
  const reader = lineReader(placeOf(id));
  let last: string | null = null;
  let at = 0;
  return async function* read() {
    // The last line again: its checksum covers all lines that were read.
    let known = last;
    for await (const line of linesIn(backend, id, at)) {
      if (known !== null && line !== known) break;
      if (known === null) {
        if (last !== null) at += 1;
        last = line;
        for (const { entry } of reader.read(line)) yield entry();
      }
      known = null;
    }
    if (known !== null) throw journalReplaced(id);
  };
}

/** Returns the `waiting` of the last entry of a journal, which nothing has checked. */
function waitIn(last: unknown): Partial<Waiting> | undefined {
  const { type, waiting } = Object(last) as { type?: unknown; waiting?: Partial<Waiting> };
  return type === 'closed' ? waiting : undefined;
}

const machineIn = (first: unknown): unknown => Object(Object(first).machine).id;

type Listed = Pick<ListedJournal, 'first' | 'last' | 'attributes' | 'isQueued'>;

/** The entries may be in their stored form. */
function indexOf({ first, last, isQueued }: Listed, terms: readonly string[]): JournalIndex {
  const [machine, waiting] = [machineIn(first), waitIn(last)];
  const idle = isQueued && durableFormat.queuedIn(Object(last)) ? 'queued' : 'open';
  return {
    machine: typeof machine === 'string' ? machine : null,
    state: durableFormat.isEnd(Object(last) as never) ? 'ended' : waiting ? 'waiting' : idle,
    dueMs: waiting?.dueAtMs ?? null,
    terms,
  };
}

/** The key of a journal may be long, or secret. */
function queuedIn(last: DurableEntry | undefined, redact?: Redact): Pick<JournalIndex, 'queued'> {
  const queued = last && durableFormat.queuedIn(redact ? durableFormat.redact(last, redact) : last);
  if (queued === undefined) return {};
  const { priority, key, beginsAtMs } = queued;
  return { queued: { priority, key: key === null ? null : nameDigest(key), dueMs: beginsAtMs } };
}

/** PostgreSQL does not index long texts. */
const MAX_TERM_CHARS = 200;

const termOf = (name: string, value: unknown): string =>
  `${JSON.stringify(name)}:${JSON.stringify(value)}`.slice(0, MAX_TERM_CHARS);

const termsOf = (listed: Listed): readonly string[] => [
  ...new Set(durableFormat.comparedIn(listed).map(([name, value]) => termOf(name, value))),
];

interface WrittenEnds extends Listed {
  readonly first: DurableEntry | undefined;
  readonly last: DurableEntry | undefined;
}

/** Returns a function that returns the terms of one journal, and computes them only if they may have changed. */
function knownTerms(redact = (entry: DurableEntry): DurableEntry => entry) {
  let known: readonly [attributes: unknown, summary: unknown, terms: readonly string[]] | null = null;
  return ({ first, last, attributes }: WrittenEnds): readonly string[] => {
    const { summary } = Object(last) as { readonly summary?: unknown };
    if (known !== null && known[0] === attributes && known[1] === summary) return known[2];
    const terms = termsOf({ first: first && redact(first), last: last && redact(last), attributes });
    known = [attributes, summary, terms];
    return terms;
  };
}

/** Yields the entries of a whole journal. */
async function* entriesIn(reader: LineReader, lines: AsyncIterable<string>): AsyncGenerator<DurableEntry> {
  const pause = pauses();
  for await (const line of lines) {
    for (const { entry } of reader.read(line)) yield entry();
    await pause();
  }
  reader.end();
}

/** Lists may show what is among the last entries, for example an answer. */
const LAST_ENTRIES = 8;

function endsOf(lines: FirstAndLast): JournalEnds {
  const [first] = entriesInLine(lines.first, 0, 1) ?? [];
  const last = entriesInLine(lines.last, -LAST_ENTRIES);
  const isDamaged = first === undefined || last === null;
  const attributes = attributesInLine(lines.last);
  return { first, last: last ?? [], lastSeq: lastSeqIn(lines.last), isDamaged, attributes };
}

/** Creates a journal. If the disk is full, fails at the first entry instead, so that the host can start. */
function createSink(backend: JournalBackend, id: string): LineSink {
  try {
    return backend.create(id);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return {
      append() {
        throw error;
      },
      close() {},
    };
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = Object((error as Error).cause) as { readonly code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' || /: the disk is full; /u.test((error as Error).message);
}

interface ListSource extends Pick<JournalBackend, 'remove' | 'removeOld' | 'sampleDue' | 'isOrdered'> {
  bounds(query: LinesQuery): AsyncIterable<JournalBounds>;
  read(id: string): AsyncIterable<DurableEntry>;
}

/** The states of journals by the status of their summary; for others, `ended`. One that waits has that state until its process writes. */
const STATES: Readonly<Record<string, readonly JournalIndex['state'][]>> = {
  running: ['open', 'waiting'],
  waiting: ['waiting'],
  interrupted: ['open'],
  queued: ['queued'],
};

function requireStatus(method: string, status: unknown = []): void {
  const known = ['running', 'waiting', 'interrupted', 'queued', ...durableFormat.endStatuses, 'damaged'];
  const unknown = [status].flat().find((each) => !known.includes(String(each)));
  if (unknown !== undefined) throw invalid(method, 'status', `one of ${known.join(', ')}`, unknown);
}

function isMatch(listed: ListedJournal, options: ListOptions): boolean {
  const { first, last } = listed;
  const { machine, waitingFor, dueBefore, where } = options;
  const { events = [], approvals = [], dueAtMs } = waitIn(last) ?? {};
  const { summary } = Object(last) as { summary?: { for?: unknown } };
  const compared = where && durableFormat.comparedIn(listed);
  return (
    (machine === undefined || machineIn(first) === machine) &&
    (waitingFor === undefined ||
      [...events, Object(summary).for].includes(waitingFor) ||
      (waitingFor === 'approval' && approvals.length > 0)) &&
    (dueBefore === undefined || (typeof dueAtMs === 'number' && dueAtMs <= dueBefore)) &&
    Object.entries(where ?? {}).every(([name, values]) =>
      compared?.some((each) => each[0] === name && [values].flat().includes(each[1])),
    )
  );
}

const REMOVED_AT_ONCE = 500;

/** Returns the methods of a store that concern many journals. */
export function listing({
  bounds,
  isOrdered,
  read,
  remove,
  removeOld = async () => [],
  sampleDue,
}: ListSource): Pick<Journals, 'list' | 'due' | 'delete' | 'prune'> {
  const { compare, endStatuses } = durableFormat;
  const isEnded = (status: string): boolean => (endStatuses as readonly string[]).includes(status);
  /** The versions of journals that have ended, by id: lists of the others do not read them again. */
  const ended = new Map<string, string>();
  async function find(options: ListOptions, ids?: readonly string[]): Promise<readonly ActorSummary[]> {
    const { status, machine, waitingFor, dueBefore, where, after, limit = Number.POSITIVE_INFINITY } = options;
    const terms =
      where && Object.entries(where).map(([name, values]) => [values].flat().map((value) => termOf(name, value)));
    const given: readonly unknown[] | null = status === undefined ? null : [status].flat();
    const mustWait = waitingFor !== undefined || dueBefore !== undefined;
    const statuses = mustWait ? (given ?? ['waiting']).filter((each) => each === 'waiting') : given;
    const listed: ActorSummary[] = [];
    let [sound, latest] = [0, ''];
    const states = statuses?.includes('damaged')
      ? undefined
      : statuses?.flatMap((each) => STATES[String(each)] ?? (['ended'] as const));
    const isKnown = (id: string, version: string): boolean =>
      states?.includes('ended') === false && ended.get(id) === version;
    for await (const journal of bounds({
      ids,
      isKnown,
      list: { startedAt: after?.startedAt || undefined, machine, states, dueBefore, terms },
    })) {
      if (journal.ends === null) continue;
      const read = listedJournal(journal);
      const summary = durableFormat.summarize(read);
      const { status: found, startedAt } = summary;
      if (isEnded(found)) ended.set(journal.id, journal.version);
      if (statuses?.includes(found) === false || !isMatch(read, options)) continue;
      if (after !== undefined && compare(after, summary) >= 0) continue;
      // Damaged journals are last in the list. What started at the same time is sorted by id below.
      if (found !== 'damaged') {
        if (isOrdered && sound >= limit && startedAt !== latest) break;
        [sound, latest] = [sound + 1, startedAt];
      }
      listed.push(summary);
    }
    if (!isOrdered || !after?.startedAt || sound >= limit || statuses?.includes('damaged') === false)
      return listed.toSorted(compare).slice(0, limit);
    // The backend has left out those that started later than `after`.
    const { after: _, ...anywhere } = options;
    const damaged = await find({ ...anywhere, status: 'damaged', limit: limit - sound }, ids);
    return [...listed.filter(({ status: found }) => found !== 'damaged').toSorted(compare), ...damaged];
  }

  return {
    async list(options = {}) {
      requireKnown('list', options);
      requireValid('list', options);
      requireStatus('list', options.status);
      return find(options);
    },
    async due(machine, dueBefore) {
      const sample = await sampleDue?.(machine, dueBefore);
      const found = sample?.length === 0 ? [] : await find({ machine, dueBefore }, sample);
      const ids = new Set(found.map(({ id }) => id));
      return sample?.filter((id) => ids.has(id)) ?? [...ids];
    },
    delete: async (id) => remove(requireId(id)),
    async prune(options) {
      requireKnown('prune', options);
      requireValid('prune', { ...options, olderThanMs: options.olderThanMs });
      requireStatus('prune', options.status);
      const { olderThanMs, status = endStatuses } = options;
      const latestMs = Date.now() - olderThanMs;
      const found = await find({ status, after: { startedAt: new Date(latestMs).toISOString() } });
      const removed = new Set<string>();
      for (let at = 0; at < found.length; at += REMOVED_AT_ONCE) {
        const ids = found.slice(at, at + REMOVED_AT_ONCE).map(({ id }) => id);
        for (const id of await removeOld(ids, latestMs)) removed.add(id);
      }
      for (const { id, startedAt } of found.filter((one) => !removed.has(one.id)))
        try {
          // If a journal cannot be read, its start counts.
          if ((await lastWrittenMs(startedAt, read(id)).catch(() => 0)) > latestMs) continue;
          await remove(id);
          removed.add(id);
        } catch (error) {
          // One whose lock cannot be read may be in use, too.
          if (!isRaceLost(error) && Object(error).code !== 'invalid_journal') throw error;
        }
      return removed.size;
    },
  };
}

/** The longest id as JSON, so that an actor can move between stores: a row of an index of PostgreSQL has at most 2,704 bytes. */
const MAX_ID_BYTES = 2_600;

/** Returns the id of a journal. Throws `invalid_option` for one that some store could not keep. Called before anything is read or locked. */
export function requireId(id: unknown): string {
  if (typeof id !== 'string' || id === '')
    throw new PostChainError('invalid_option', `id: expected a non-empty string; received ${describeValue(id)}.`);
  // Avoids serializing a very long id.
  const bytes = id.length > MAX_ID_BYTES ? id.length : new TextEncoder().encode(JSON.stringify(id)).length;
  if (bytes <= MAX_ID_BYTES) return id;
  throw new PostChainError(
    'invalid_option',
    `id: expected at most ${MAX_ID_BYTES} bytes as JSON; received ${bytes}. Use a digest of ${describeValue(id)}.`,
  );
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** PostgreSQL has no zero characters. */
const isTime = (value: unknown): boolean => isText(value) && !String(value).includes('\0');

/** Whether a value is one that JSON has, and not an object or array. */
const isFlat = (value: unknown): boolean =>
  value === null || /^(?:string|boolean)$/u.test(typeof value) || Number.isFinite(value);

const isNumber = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value);

/** What each option of a store, and of its methods `list` and `prune`, must be: JavaScript does not check it, and `prune` deletes. */
const OPTIONS: Readonly<Record<string, readonly [expected: string, isValid: (value: unknown) => boolean]>> = {
  machine: ['the id of a machine', isText],
  status: ['a status, or an array of them', (value) => [value].flat().every(isText)],
  waitingFor: ['the type of an event', isText],
  dueBefore: ['a time in milliseconds since the epoch', isNumber],
  where: [
    'an object of strings, numbers, booleans and nulls, or arrays of them',
    (value) => Object(value) === value && Object.values(Object(value)).every((each) => [each].flat().every(isFlat)),
  ],
  after: ['an item of the list, or { startedAt }', (value) => isTime(Object(value).startedAt)],
  limit: [
    'a whole number of at least 0',
    (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0),
  ],
  olderThanMs: [
    'a number of milliseconds',
    (value) => isNumber(value) && !Number.isNaN(new Date(Date.now() - Number(value)).getTime()),
  ],
  redact: ['a function', (value) => typeof value === 'function'],
  codec: [
    'an object with the functions encode and decode',
    (value) => ['encode', 'decode'].every((name) => typeof Object(value)[name] === 'function'),
  ],
  fsync: ['"never", "checkpoint" or "always"', (value) => /^(?:never|checkpoint|always)$/u.test(String(value))],
};

/** Returns the options of a journal store. Throws `invalid_option` for an unknown or invalid one. */
export function requireStoreOptions<Options extends object>(store: string, options: Options): Options {
  requireKnownOptions(store, options, 'redact codec fsync');
  requireValid(store, options);
  return options;
}

/** Throws `invalid_option` for an option with an invalid value. */
function requireValid(method: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const [expected, isValid] = OPTIONS[name] ?? [];
    const isLeftOut = value === undefined && name !== 'olderThanMs';
    if (!isLeftOut && isValid?.(value) === false) throw invalid(method, name, expected, value);
  }
}

const invalid = (method: string, name: string, expected = '', value: unknown): PostChainError =>
  new PostChainError('invalid_option', `${name} of ${method}: expected ${expected}; received ${describeValue(value)}.`);

/** Returns a backend whose lines are encoded. */
function withCodec(backend: JournalBackend, codec: LineCodec): JournalBackend {
  /** Throws for a result that a store would lose or cut off, or of another type, which JavaScript does not check. */
  function encode(line: string): string {
    const encoded: unknown = codec.encode(line);
    if (typeof encoded === 'string' && !/[\0\r\n]/u.test(encoded)) return encoded;
    const received = typeof encoded === 'string' ? 'a string that has one' : describeValue(encoded);
    throw new PostChainError(
      'invalid_option',
      `codec.encode: expected a string without line breaks and zero characters; received ${received}`,
    );
  }
  function decode(line: string): string {
    let reason = 'the result is not a line of a journal';
    try {
      const decoded: unknown = codec.decode(line);
      if (typeof decoded === 'string' && decoded.startsWith('{')) return decoded;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    throw new Error(`cannot be decoded: another key or codec? (${reason})`);
  }
  const encoded = (sink: LineSink): LineSink => ({
    ...sink,
    ...(sink.lines && { lines: () => decoded(sink.lines?.() ?? []) }),
    append: (lines, options) =>
      sink.append(lines.map(encode), { ...options, index: { ...options.index, terms: null } }),
    close: () => sink.close(),
  });
  async function* decoded(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
    for await (const line of lines) yield decode(line);
  }
  /** Returns nothing for a line that cannot be decoded, so that its journal is listed as damaged, or its message as unreadable. */
  function decodedEnd(line: string): string {
    try {
      return line && decode(line);
    } catch {
      return '';
    }
  }
  const encodedMail = (mail: LineMailbox): LineMailbox => ({
    ...mail,
    post: async (to, id, line) => mail.post(to, id, encode(line)),
    read: async (to) => (await mail.read(to)).map(({ id, line }) => ({ id, line: decodedEnd(line) })),
  });
  return {
    ...backend,
    create: (id) => encoded(backend.create(id)),
    reopen: async (id, options) => encoded(await backend.reopen(id, options)),
    lines: (id, from) => decoded(backend.lines(id, from)),
    ...(backend.linesBackward && { linesBackward: (id) => decoded(backend.linesBackward?.(id) ?? []) }),
    ...(backend.mail && { mail: encodedMail(backend.mail) }),
    async *bounds({ list, ...query } = {}) {
      for await (const each of backend.bounds({ ...query, ...(list && { list: { ...list, terms: undefined } }) }))
        yield {
          ...each,
          lines: each.lines && { first: decodedEnd(each.lines.first), last: decodedEnd(each.lines.last) },
        };
    },
  };
}

const FOLLOW_POLL_MS = 250;

/** Polls the version of a journal. Reports every version after it can be read, and a journal that is gone. */
function pollVersion(backend: JournalBackend, id: string, onChange: () => void): () => void {
  let known: string | null = null;
  async function versionNow(): Promise<string | null> {
    for await (const { version } of backend.bounds({ ids: [id], isKnown: () => true })) return version;
    return null;
  }
  const poll = unlessRunning(async () => {
    // Reading the journal reports the error.
    const version = await versionNow().catch(() => null);
    if (version !== known || version === null) onChange();
    known = version;
  });
  const timer = setInterval(poll, FOLLOW_POLL_MS);
  return () => clearInterval(timer);
}

/** Returns a function that calls `act`, unless its last call has not settled. Ignores errors, because the next call tries again. */
export function unlessRunning(act: () => Promise<void>): () => void {
  let isRunning = false;
  const end = (): void => {
    isRunning = false;
  };
  return () => {
    if (isRunning) return;
    isRunning = true;
    act().then(end, end);
  };
}

/** Calls `act` at an interval, by default twice a second, without keeping the process alive. Returns a function that stops it. */
export function repeat(act: () => void, everyMs = 500): () => void {
  const timer = setInterval(act, everyMs);
  timer.unref?.();
  return () => clearInterval(timer);
}

/** Returns a function that reports the actors for which messages wait, if there are any. */
export const receiversReport = (
  receivers: () => Promise<readonly string[]>,
  onMail: (ids: readonly string[]) => void,
): (() => void) =>
  unlessRunning(async () => {
    const ids = await receivers();
    if (ids.length > 0) onMail(ids);
  });

/** Yields a journal's lines. Reports a backend's own errors (a directory instead of a file, a damaged database page) as `invalid_journal`. */
async function* linesIn(backend: LineSource, id: string, from = 0): AsyncGenerator<string> {
  try {
    yield* backend.lines(requireId(id), from);
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(placeOf(id), cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Throws `invalid_journal` for an unfinished journal without redaction, because a partly redacted journal cannot be replayed. */
function requireRedacted(id: string, entries: readonly DurableEntry[]): void {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || durableFormat.isRedacted(first) || durableFormat.isEnd(last)) return;
  throw new PostChainError(
    'invalid_journal',
    `${subjectOf(id)} was recorded without "redact" and cannot continue with it; open it in a store without "redact"`,
  );
}

/** Returns the name under which a database stores a journal: JSON, because SQLite cuts text at a zero character, and PostgreSQL has none. */
export const nameOf = (id: string): string => JSON.stringify(id);

/** Returns the id of a name. A damaged name is returned unchanged. */
export function idOf(name: string): string {
  const read = parseJson(name);
  return typeof read === 'string' ? read : name;
}

/**
 * Returns SQL for the column `indexed`. While a process holds a journal without having written to it, `indexed` is the negative token; the release
 * restores it, so that the index stays valid.
 */
export const keepIndex = (before: string, now: string): string =>
  `indexed = CASE indexed WHEN ${before} THEN ${now} ELSE indexed END`;

/** Names a journal at the start of a message. */
export const subjectOf = (id: string): string => `Journal ${JSON.stringify(id)}`;

/** Names a journal before the reason why it cannot be read. */
export const placeOf = (id: string): string => `journal ${String(id)}`;

export function noSuchJournal(id: string): PostChainError {
  return new PostChainError(
    'unknown_journal',
    `There is no journal ${JSON.stringify(id)}; list() returns the existing journals`,
  );
}

export function journalExists(id: string): PostChainError {
  return new PostChainError('journal_exists', `${subjectOf(id)} already exists; use a new id`);
}

export function journalReplaced(id: string): PostChainError {
  const subject = subjectOf(id);
  return new PostChainError('unknown_journal', `${subject} was deleted and created again; follow it from the start`);
}

/** `owner` names the process that is writing the journal. */
export function journalInUse(subject: string, owner: string): PostChainError {
  return new PostChainError(
    'journal_held',
    `${subject} is still running in ${owner}; wait until it ends or parks ("parkAfterMs"), stop that process, or take it over with the option "force"`,
  );
}
