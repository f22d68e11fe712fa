import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type {
  JournalEntry,
  JournalStore,
  JournalStoreOptions,
  JournalWriter,
  OpenJournalOptions,
  RunStatus,
  RunSummary,
} from '../../machines/contracts/journal.ts';
import { guardedWriter } from '../engine/recording/journal.ts';
import { jsonOf, type LineReader, type LineWriter, lineReader, lineWriter, unreadable } from './journal-lines.ts';

/** Stores lines by run, for one writer at a time. Methods throw or reject with `invalid_journal`. */
export interface JournalBackend {
  create(runId: string): LineSink;
  /** The whole lines of a journal; a torn last line is left out. */
  lines(runId: string): AsyncIterable<string> | Iterable<string>;
  /** Opens a journal for appending; a torn last line is dropped. */
  reopen(runId: string, options: OpenJournalOptions): LineSink | Promise<LineSink>;
  bounds(): Promise<readonly JournalBounds[]> | readonly JournalBounds[];
}

/** The destination of one journal's lines. */
export interface LineSink {
  /** Throws or rejects if the line cannot be written. */
  append(line: string): Promise<void> | void;
  close(): Promise<void> | void;
}

/** The first and last line of a journal, and whether a process is writing it. */
export interface JournalBounds {
  readonly runId: string;
  readonly first: string;
  readonly last: string;
  readonly isWritten: boolean;
}

/** Returns the journal store that keeps its lines in a backend. */
export function createJournalStore(backend: JournalBackend, { redact }: JournalStoreOptions): JournalStore {
  async function* readEach<Item>(
    runId: string,
    read: (reader: LineReader, line: string) => Item,
  ): AsyncGenerator<Item> {
    const reader = lineReader(`run ${runId}`);
    for await (const line of linesIn(backend, runId)) yield read(reader, line);
    reader.end();
  }

  const store: JournalStore = {
    create: (runId) => writerTo(backend.create(runId), lineWriter(redact)),
    read: (runId) => readEach(runId, (reader, line) => reader.entry(line)),
    async open(runId, openOptions = {}) {
      const sink = await backend.reopen(runId, openOptions);
      try {
        const reader = lineReader(`run ${runId}`);
        const entries: JournalEntry[] = [];
        for await (const line of linesIn(backend, runId)) entries.push(reader.entry(line));
        reader.end();
        if (redact !== undefined) requireRedacted(runId, entries);
        return { entries, writer: writerTo(sink, reader.writer(redact)) };
      } catch (error) {
        await sink.close();
        throw error;
      }
    },
    list: async () => (await backend.bounds()).map(summaryOf).toSorted(newestFirst),
  };
  lineReaders.set(store, (runId) => readEach(runId, (reader, line) => reader.json(line)));
  return store;
}

/** How to read the lines of a store. Keyed by identity: a copy of a store with another `read` is not in it. */
const lineReaders = new WeakMap<JournalStore, (runId: string) => AsyncIterable<string>>();

/**
 * Yields the entries of a run, in order, each as JSON. Stores made by `createJournalStore` do not serialize them again. Rejects as
 * `read` does.
 */
export async function* linesFrom(store: JournalStore, runId: string): AsyncGenerator<string> {
  const readLines = lineReaders.get(store);
  if (readLines !== undefined) yield* readLines(runId);
  else for await (const entry of store.read(runId)) yield JSON.stringify(entry);
}

/** Reports a backend's own errors (a directory in place of a file, a damaged database page) as a damaged journal. */
async function* linesIn(backend: JournalBackend, runId: string): AsyncGenerator<string> {
  try {
    yield* backend.lines(runId);
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(`run ${runId}`, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/**
 * Throws if a journal was begun without redaction. It must be redacted from its first entry or not at all, because a mixture cannot be
 * replayed.
 */
function requireRedacted(runId: string, entries: readonly JournalEntry[]): void {
  const [start] = entries;
  if (start?.type !== 'run-start' || start.redacted || entries.at(-1)?.type === 'run-end') return;
  throw new PostChainError(
    'invalid_journal',
    `Run ${JSON.stringify(runId)} was recorded without "redact" and cannot continue with it; open it in a store without "redact"`,
  );
}

function writerTo(sink: LineSink, lines: LineWriter): JournalWriter {
  let failure: string | null = null;
  const watch = (written: Promise<void> | void): void => {
    if (written instanceof Promise)
      written.catch((error) => {
        failure ??= error instanceof Error ? error.message : String(error);
      });
  };
  return guardedWriter({
    get failure() {
      return failure;
    },
    write: (entry) => watch(sink.append(lines.line(entry))),
    close: () => watch(sink.close()),
  });
}

function summaryOf({ runId, first, last, isWritten }: JournalBounds): RunSummary {
  const start = firstLineSchema.safeParse(jsonOf(first));
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

const newestFirst = (one: RunSummary, other: RunSummary): number =>
  one.startedAt < other.startedAt ? 1 : one.startedAt > other.startedAt ? -1 : 0;

/** Lists read only the first and last line of each journal; checksums are verified when a journal is read. */
const firstLineSchema = z.object({
  type: z.literal('run-start'),
  request: z.string(),
  startedAt: z.iso.datetime(),
  forkedFrom: z.object({ runId: z.string(), seq: z.int(), forkedAt: z.iso.datetime() }).nullable(),
});
const lastLineSchema = z.union([
  z.object({ type: z.literal('run-end'), status: z.enum(['completed', 'degraded', 'cancelled']) }),
  z.object({ type: z.string().refine((type) => type !== 'run-end') }),
]);

function statusOf(last: string, isWritten: boolean): RunStatus {
  const end = lastLineSchema.safeParse(jsonOf(last));
  if (!end.success) return 'damaged';
  if ('status' in end.data) return end.data.status;
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
    `Run ${JSON.stringify(runId)} is still running in ${owner}; wait for it to end, stop that process, or take the run over with "force"`,
  );
}
