import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type {
  Fsync,
  JournalEntry,
  JournalStore,
  JournalStoreOptions,
  JournalWriter,
  OpenJournalOptions,
  RunStatus,
  RunSummary,
} from '../../machines/contracts/journal.ts';
import { guardedWriter } from './guarded-writer.ts';
import {
  entriesInLine,
  type LineWriter,
  lineReader,
  lineWriter,
  type ReadEntry,
  unreadable,
} from './journal-lines.ts';

/** Stores lines by run, for one writer at a time. Methods throw or reject with `invalid_journal`. */
export interface JournalBackend {
  create(runId: string): LineSink;
  /** The whole lines of a journal after the first `from`; a torn last line is left out. */
  lines(runId: string, from?: number): AsyncIterable<string> | Iterable<string>;
  /** Opens a journal for appending; a torn last line is dropped. */
  reopen(runId: string, options: OpenJournalOptions): LineSink | Promise<LineSink>;
  /** The given journals, by default all; the most recently written first, if the store knows the order in advance. Those that do not exist are left out. */
  bounds(query?: BoundsQuery): AsyncIterable<JournalBounds> | Iterable<JournalBounds>;
  /** Reports changed runs by id, or null if any run may have changed. Returns a function that stops it. */
  watch(onChange: (runIds: readonly string[] | null) => void): () => void;
  /** Removes a journal that no process is writing. */
  remove?(runId: string): void | Promise<void>;
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
  readonly runIds?: readonly string[] | undefined;
  /** Whether the lines of a journal in this version are not needed. */
  readonly isKnown?: ((runId: string, version: string) => boolean) | undefined;
  /** Receives the number of journals before the first of them is read. */
  readonly onFound?: ((count: number) => void) | undefined;
}

export interface JournalBounds {
  readonly runId: string;
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

export interface StoreOptions extends JournalStoreOptions {
  /** Whether to write one entry per line, for people and version control, instead of compressed blocks. */
  readonly isPlain?: boolean;
}

/** Returns the journal store that keeps its lines in a backend. */
export function createJournalStore(backend: JournalBackend, options: StoreOptions): JournalStore {
  const { redact, fsync = 'never', isPlain = false } = options;
  const lineOptions = { redact, isCompressed: !isPlain };

  function openTail(runId: string): JournalTail {
    const reader = lineReader(`run ${runId}`);
    let count = 0;
    return {
      async *read() {
        for await (const line of linesIn(backend, runId, count)) {
          count += 1;
          yield* reader.read(line);
        }
        reader.end();
      },
    };
  }

  async function* scan(query?: BoundsQuery): AsyncGenerator<StoredRun> {
    for await (const { runId, version, lines, isWritten } of backend.bounds(query))
      yield { runId, version, ends: lines && endsOf(lines), isWritten };
  }

  const writerTo = (sink: LineSink, lines: LineWriter): JournalWriter =>
    guardedWriter({
      write: (entries) => sink.append(lines.lines(entries), { sync: mustSync(entries, fsync) }),
      close: () => sink.close(),
    });

  const store: JournalStore = {
    create: (runId) => writerTo(createSink(backend, runId), lineWriter(lineOptions)),
    async *read(runId) {
      for await (const { entry } of openTail(runId).read()) yield entry;
    },
    async open(runId, openOptions = {}) {
      const sink = await backend.reopen(runId, openOptions);
      try {
        const reader = lineReader(`run ${runId}`);
        const entries: JournalEntry[] = [];
        for await (const line of linesIn(backend, runId))
          for (const { entry } of reader.read(line)) entries.push(entry);
        reader.end();
        if (redact !== undefined) requireRedacted(runId, entries);
        return { entries, writer: writerTo(sink, reader.writer(lineOptions)) };
      } catch (error) {
        await sink.close();
        throw error;
      }
    },
    async list() {
      const runs: RunSummary[] = [];
      for await (const { runId, ends, isWritten } of scan())
        runs.push(summarize(runId, ends?.first, ends?.last ?? null, isWritten));
      return runs.toSorted(newestFirst);
    },
    ...(backend.remove && { delete: async (runId: string) => backend.remove?.(runId) }),
  };
  registerStoredRuns(store, {
    hasChecksums: true,
    openTail,
    scan,
    watch: backend.watch,
  });
  return store;
}

/** The answer of a run is among its last entries. */
const LAST_ENTRIES = 8;

const endsOf = ({ first, last }: FirstAndLast): StoredRun['ends'] => ({
  first: entriesInLine(first, 0, 1)?.[0],
  last: entriesInLine(last, -LAST_ENTRIES),
});

/** Creates a journal. If the disk is full, fails at the first entry instead, so that the run can start. */
function createSink(backend: JournalBackend, runId: string): LineSink {
  try {
    return backend.create(runId);
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

/** The entries that are synced with `fsync: 'checkpoint'`. */
const CHECKPOINTS: ReadonlySet<JournalEntry['type']> = new Set(['run-start', 'phase-end', 'decision', 'run-end']);

function mustSync(entries: readonly JournalEntry[], fsync: Fsync): boolean {
  return fsync === 'always' || (fsync === 'checkpoint' && entries.some(({ type }) => CHECKPOINTS.has(type)));
}

/** Reads a journal that may grow. */
export interface JournalTail {
  /** Yields the entries after those that were read before, each with its JSON. Rejects with `invalid_journal`, as does every later call. */
  read(): AsyncGenerator<ReadEntry>;
}

/** A run as a list of runs reads it. */
export interface StoredRun {
  readonly runId: string;
  /** Changes with every entry. */
  readonly version: string;
  /** The first entry, and those of the last line as in `summarize`; null if the version is known. Not verified. */
  readonly ends: { readonly first: unknown; readonly last: readonly unknown[] | null } | null;
  /** Whether a process is writing the run. */
  readonly isWritten: boolean;
}

/** Access to stored runs that the public interface does not have. */
interface StoredRuns {
  /** Whether reading a run checks a checksum of every line. */
  readonly hasChecksums?: boolean;
  openTail(runId: string): JournalTail;
  scan(query?: BoundsQuery): AsyncIterable<StoredRun>;
  watch(onChange: (runIds: readonly string[] | null) => void): () => void;
}

/** Keyed by identity, so a copy of a store with another `read` is not included. */
const storedRuns = new WeakMap<JournalStore, StoredRuns>();

export function registerStoredRuns(store: JournalStore, runs: StoredRuns): void {
  storedRuns.set(store, runs);
}

/** Whether a store is PostChain's own, so that only the new entries of a run are read. */
export const isOwnStore = (store: JournalStore): boolean => storedRuns.has(store);

/** How often a store that cannot report changes is listed. */
const POLL_MS = 1_000;

/** Returns access to the runs of a store. One that is not PostChain's own is polled, and its runs are read from the start each time. */
export function storedRunsOf(store: JournalStore): StoredRuns {
  const stored = storedRuns.get(store);
  if (stored !== undefined) return stored;
  return {
    openTail(runId) {
      let count = 0;
      return {
        async *read() {
          let at = 0;
          for await (const entry of store.read(runId)) {
            at += 1;
            if (at <= count) continue;
            count = at;
            yield { entry, json: JSON.stringify(entry) };
          }
        },
      };
    },
    async *scan({ runIds } = {}) {
      for (const { runId, request, startedAt, forkedFrom, status } of await store.list()) {
        if (runIds !== undefined && !runIds.includes(runId)) continue;
        const isOpen = status === 'running' || status === 'interrupted';
        const forked = forkedFrom && { ...forkedFrom, forkedAt: startedAt };
        const first = { type: 'run-start', request, startedAt, forkedFrom: forked };
        const last = status === 'damaged' ? null : isOpen ? [] : [{ type: 'run-end', status }];
        // Only reading the run could tell whether it has grown.
        const version = status === 'running' ? `${status} ${performance.now()}` : status;
        yield { runId, version, ends: { first, last }, isWritten: status === 'running' };
      }
    },
    watch: (onChange) => repeat(POLL_MS, () => onChange(null)),
  };
}

/** Calls `act` at an interval, without keeping the process alive. Returns a function that stops it. */
export function repeat(everyMs: number, act: () => void): () => void {
  const timer = setInterval(act, everyMs);
  timer.unref?.();
  return () => clearInterval(timer);
}

/** Yields a journal's lines. Reports a backend's own errors (a directory instead of a file, a damaged database page) as `invalid_journal`. */
async function* linesIn(backend: JournalBackend, runId: string, from = 0): AsyncGenerator<string> {
  try {
    yield* backend.lines(runId, from);
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(`run ${runId}`, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/**
 * Throws `invalid_journal` if an unfinished journal was started without redaction, because a partly redacted journal cannot be replayed.
 */
function requireRedacted(runId: string, entries: readonly JournalEntry[]): void {
  const [start] = entries;
  if (start?.type !== 'run-start' || start.redacted || entries.at(-1)?.type === 'run-end') return;
  throw new PostChainError(
    'invalid_journal',
    `Run ${JSON.stringify(runId)} was recorded without "redact" and cannot continue with it; open it in a store without "redact"`,
  );
}

/**
 * Returns the summary of a run from its first entry and the entries of its last line, without verifying checksums. `last` is empty if that
 * line cannot be read alone, so it does not end the run, and null if it is damaged.
 */
export function summarize(
  runId: string,
  first: unknown,
  last: readonly unknown[] | null,
  isWritten: boolean,
): RunSummary {
  const start = startSchema.safeParse(first);
  if (!start.success) return { runId, request: '', startedAt: '', forkedFrom: null, status: 'damaged' };
  const { request, forkedFrom } = start.data;
  const startedAt = forkedFrom?.forkedAt ?? start.data.startedAt;
  return {
    runId,
    request,
    startedAt,
    forkedFrom: forkedFrom && { runId: forkedFrom.runId, seq: forkedFrom.seq },
    status: statusOf(last, isWritten),
  };
}

export const newestFirst = (one: RunSummary, other: RunSummary): number =>
  one.startedAt < other.startedAt ? 1 : one.startedAt > other.startedAt ? -1 : 0;

const startSchema = z.object({
  type: z.literal('run-start'),
  request: z.string(),
  startedAt: z.iso.datetime(),
  forkedFrom: z.nullable(z.object({ runId: z.string(), seq: z.int(), forkedAt: z.iso.datetime() })),
});
const lastSchema = z.union([
  z.object({ type: z.literal('run-end'), status: z.enum(['completed', 'degraded', 'cancelled']) }),
  z.object({ type: z.string().check(z.refine((type) => type !== 'run-end')) }),
]);

function statusOf(last: readonly unknown[] | null, isWritten: boolean): RunStatus {
  if (last === null) return 'damaged';
  if (last.length > 0) {
    const end = lastSchema.safeParse(last.at(-1));
    if (!end.success) return 'damaged';
    if ('status' in end.data) return end.data.status;
  }
  return isWritten ? 'running' : 'interrupted';
}

export function noSuchRun(runId: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `There is no run ${JSON.stringify(runId)}; list() returns the known runs`,
  );
}

export function runExists(runId: string): PostChainError {
  return new PostChainError('invalid_journal', `Run ${JSON.stringify(runId)} already exists; use a new run id`);
}

/** `owner` names the process that is writing the journal. */
export function runInUse(runId: string, owner: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `Run ${JSON.stringify(runId)} is still running in ${owner}; wait for it to end, stop that process, or take the run over with the option "force" (--force on the command line)`,
  );
}
