import { PostChainError } from '../error.ts';
import { guardedWriter } from './guarded-writer.ts';
import {
  entriesInLine,
  hasKeyframe,
  type LineOptions,
  type LineReader,
  type LineWriter,
  lastSeqIn,
  lineReader,
  lineWriter,
  type ReadEntry,
  unreadable,
} from './journal-lines.ts';
import {
  type JournalFormat,
  type JournalStore,
  type JournalStoreOptions,
  type JournalWriter,
  KEYFRAME_EVERY,
  type ListedJournal,
  type OpenJournalOptions,
  type StoredEntry,
} from './journal-store.ts';

/** Stores lines by journal, for one writer at a time. Methods throw or reject with `invalid_journal`. */
export interface JournalBackend {
  create(id: string): LineSink;
  /** The whole lines of a journal after the first `from`; a torn last line is left out. */
  lines(id: string, from?: number): AsyncIterable<string> | Iterable<string>;
  /** The whole lines of a journal, the last one first. */
  linesBackward(id: string): AsyncIterable<string> | Iterable<string>;
  /** Opens a journal for appending; a torn last line is dropped. */
  reopen(id: string, options: OpenJournalOptions): LineSink | Promise<LineSink>;
  /** The given journals, by default all; the most recently written first, if the store knows the order in advance. Those that do not exist are left out. */
  bounds(query?: BoundsQuery): AsyncIterable<JournalBounds> | Iterable<JournalBounds>;
  /** Reports changed journals by id, or null if any may have changed. Returns a function that stops it. */
  watch(onChange: (ids: readonly string[] | null) => void): () => void;
  /** Removes a journal that no process is writing. */
  remove(id: string): void | Promise<void>;
}

/** The destination of one journal's lines. */
export interface LineSink {
  /** Appends the lines of one step. Throws or rejects if they cannot be written. */
  append(lines: readonly string[], options: AppendOptions): void | Promise<void>;
  close(): void | Promise<void>;
}

interface AppendOptions {
  /** Whether the lines must survive a power failure before `append` returns or resolves. */
  readonly sync: boolean;
}

export interface BoundsQuery {
  /** By default all. */
  readonly ids?: readonly string[] | undefined;
  /** Whether the lines of a journal in this version are not needed. */
  readonly isKnown?: ((id: string, version: string) => boolean) | undefined;
  /** Receives the number of journals before the first of them is read. */
  readonly onFound?: ((count: number) => void) | undefined;
}

export interface JournalBounds {
  readonly id: string;
  /** Changes with every line. */
  readonly version: string;
  /** The first and last line; null if the version is known. */
  readonly lines: FirstAndLast | null;
  /** Whether a process is writing the journal. */
  readonly isWritten: boolean;
}

export interface FirstAndLast {
  readonly first: string;
  readonly last: string;
}

/** Returns the journal store that keeps its lines in a backend. */
export function createLineStore<Entry extends StoredEntry, Summary>(
  backend: JournalBackend,
  format: JournalFormat<Entry, Summary>,
  options: JournalStoreOptions & LineOptions,
): JournalStore<Entry, Summary> {
  const { fsync = 'never' } = options;
  const mustSync = (entries: readonly Entry[]): boolean =>
    fsync === 'always' || (fsync === 'checkpoint' && entries.some((entry) => format.isCheckpoint(entry)));

  function openTail(id: string): JournalTail<Entry> {
    const reader = lineReader(format, placeOf(format, id));
    let count = 0;
    return {
      async *read() {
        for await (const line of linesIn(backend, format, id, count)) {
          count += 1;
          yield* reader.read(line);
        }
        reader.end();
      },
    };
  }

  async function* scan(query?: BoundsQuery): AsyncGenerator<StoredJournal> {
    for await (const { id, version, lines, isWritten } of backend.bounds(query))
      yield { id, version, ends: lines && endsOf(lines), isWritten };
  }

  async function readAll(id: string): Promise<ReadJournal<Entry>> {
    const reader = lineReader(format, placeOf(format, id));
    const entries: Entry[] = [];
    for await (const line of linesIn(backend, format, id))
      for (const { entry } of reader.read(line)) entries.push(entry);
    reader.end();
    return { entries, reader };
  }

  /** Returns null if there are fewer than two keyframes, or if a line is damaged: reading the whole journal reports the damage. */
  async function readFromKeyframe(id: string): Promise<ReadJournal<Entry> | null> {
    const { isKeyframe } = format;
    if (isKeyframe === undefined) return null;
    const place = placeOf(format, id);
    const lines: string[] = [];
    let count = 0;
    try {
      for await (const line of backend.linesBackward(id)) {
        lines.push(line);
        if (hasKeyframe(format, line)) count += 1;
        if (count === 2 || lines.length > MAX_LINES_SEARCHED) break;
      }
      if (count < 2) return null;
      const reader = lineReader(format, place, { startsLate: true });
      const last = lines.toReversed().flatMap((line) => reader.read(line).map(({ entry }) => entry));
      for await (const line of backend.lines(id)) {
        const [first] = lineReader(format, place).read(line);
        return first ? { entries: [first.entry, ...last.slice(last.findIndex(isKeyframe))], reader } : null;
      }
    } catch {}
    return null;
  }

  const writerTo = (sink: LineSink, lines: LineWriter<Entry>): JournalWriter<Entry> =>
    guardedWriter({
      keyframeEvery: format.isKeyframe && options.isPlain !== true ? KEYFRAME_EVERY : undefined,
      write: (entries) => sink.append(lines.lines(entries), { sync: mustSync(entries) }),
      close: () => sink.close(),
    });

  const store: JournalStore<Entry, Summary> = {
    create: (id) => writerTo(createSink(backend, id), lineWriter(format, options)),
    async *read(id, { fromKeyframe = false } = {}) {
      const late = fromKeyframe ? await readFromKeyframe(id) : null;
      if (late !== null) yield* late.entries;
      else for await (const { entry } of openTail(id).read()) yield entry;
    },
    async open(id, openOptions = {}) {
      const sink = await backend.reopen(id, openOptions);
      try {
        const { entries, reader } =
          (openOptions.fromKeyframe ? await readFromKeyframe(id) : null) ?? (await readAll(id));
        if (options.redact !== undefined) requireRedacted(format, id, entries);
        return { entries, writer: writerTo(sink, reader.writer(options)) };
      } catch (error) {
        await sink.close();
        throw error;
      }
    },
    list: () => listOf(format, scan()),
    delete: async (id) => backend.remove(id),
  };
  registerStoredJournals(store, { noun: format.noun, hasChecksums: true, openTail, scan, watch: backend.watch });
  return store;
}

/** If fewer than two keyframes are among this many last lines, the journal is read from the start. */
const MAX_LINES_SEARCHED = 50 * KEYFRAME_EVERY;

interface ReadJournal<Entry> {
  readonly entries: readonly Entry[];
  readonly reader: LineReader<Entry>;
}

/** Lists may show what is among the last entries, for example an answer. */
const LAST_ENTRIES = 8;

function endsOf(lines: FirstAndLast): JournalEnds {
  const [first] = entriesInLine(lines.first, 0, 1) ?? [];
  const last = entriesInLine(lines.last, -LAST_ENTRIES);
  const isDamaged = first === undefined || last === null;
  return { first, last: last ?? [], lastSeq: lastSeqIn(lines.last), isDamaged };
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

/** Reads a journal that may grow. */
export interface JournalTail<Entry> {
  /** Yields the entries after those that were read before, each with its JSON. Rejects with `invalid_journal`, as does every later call. */
  read(): AsyncGenerator<ReadEntry<Entry>>;
}

export interface StoredJournal {
  readonly id: string;
  /** Changes with every entry. */
  readonly version: string;
  /** Null if the version is known. */
  readonly ends: JournalEnds | null;
  /** Whether a process is writing the journal. */
  readonly isWritten: boolean;
}

/** The first entry and some of the last line's, as in `ListedJournal`; none if that line cannot be read without the others. */
interface JournalEnds {
  readonly first: unknown;
  readonly last: readonly unknown[];
  readonly lastSeq: number;
  readonly isDamaged: boolean;
}

/** Access to stored journals beyond the public interface. */
export interface StoredJournals<Entry> {
  /** What its journals belong to, as in `JournalFormat`. */
  readonly noun: string;
  /** Whether reading a journal checks a checksum of every line. */
  readonly hasChecksums: boolean;
  openTail(id: string): JournalTail<Entry>;
  scan(query?: BoundsQuery): AsyncIterable<StoredJournal>;
  watch(onChange: (ids: readonly string[] | null) => void): () => void;
}

/** Keyed by identity, so a copy of a store with another `read` is not included. */
const storedJournals = new WeakMap<object, StoredJournals<never>>();

export function registerStoredJournals<Entry>(
  store: JournalStore<Entry, unknown>,
  journals: StoredJournals<Entry>,
): void {
  storedJournals.set(store, journals as StoredJournals<never>);
}

/** Returns access to the journals of a store; null if the store is not one of PostChain's own. */
export function storedJournalsOf<Entry>(store: JournalStore<Entry, unknown>): StoredJournals<Entry> | null {
  return (storedJournals.get(store) as StoredJournals<Entry> | undefined) ?? null;
}

/** Returns what `summarize` of a format takes. */
export function listedJournal({ id, ends, isWritten }: Omit<StoredJournal, 'version'>): ListedJournal {
  const { first, last = [], lastSeq = -1, isDamaged = true } = ends ?? {};
  return { id, first, last: last.at(-1), lastSeq, isDamaged, isWritten };
}

export async function listOf<Summary>(
  format: Pick<JournalFormat<never, Summary>, 'summarize' | 'compare'>,
  journals: AsyncIterable<StoredJournal>,
): Promise<readonly Summary[]> {
  const summaries: Summary[] = [];
  for await (const journal of journals) summaries.push(format.summarize(listedJournal(journal)));
  return format.compare ? summaries.toSorted(format.compare) : summaries;
}

/** Calls `act` at an interval, without keeping the process alive. Returns a function that stops it. */
export function repeat(everyMs: number, act: () => void): () => void {
  const timer = setInterval(act, everyMs);
  timer.unref?.();
  return () => clearInterval(timer);
}

/** Yields a journal's lines. Reports a backend's own errors (a directory instead of a file, a damaged database page) as `invalid_journal`. */
async function* linesIn(backend: JournalBackend, format: Named, id: string, from = 0): AsyncGenerator<string> {
  try {
    yield* backend.lines(id, from);
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(placeOf(format, id), cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Throws `invalid_journal` for an unfinished journal without redaction, because a partly redacted journal cannot be replayed. */
function requireRedacted<Entry extends StoredEntry>(
  format: JournalFormat<Entry, unknown>,
  id: string,
  entries: readonly Entry[],
): void {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || format.isRedacted?.(first) !== false || format.isEnd(last)) return;
  throw new PostChainError(
    'invalid_journal',
    `${subjectOf(format, id)} was recorded without "redact" and cannot continue with it; open it in a store without "redact"`,
  );
}

type Named = Pick<JournalFormat<never, unknown>, 'noun'>;

/** Names a journal at the start of a message: `Run "a"`. */
export const subjectOf = ({ noun }: Named, id: string): string =>
  `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${JSON.stringify(id)}`;

/** Names a journal before the reason why it cannot be read. */
export const placeOf = ({ noun }: Named, id: string): string => `${noun} ${id}`;

export function noSuchJournal({ noun }: Named, id: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `There is no ${noun} ${JSON.stringify(id)}; list() returns the known ${noun}s`,
  );
}

export function journalExists(format: Named, id: string): PostChainError {
  return new PostChainError('invalid_journal', `${subjectOf(format, id)} already exists; use a new id`);
}

/** `owner` names the process that is writing the journal. */
export function journalInUse(subject: string, owner: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `${subject} is still running in ${owner}; wait for it to end, stop that process, or take it over with the option "force"`,
  );
}
