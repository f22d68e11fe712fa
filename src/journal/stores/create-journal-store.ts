import { z } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type {
  JournalStore,
  JournalStoreOptions,
  JournalWriter,
  RunStatus,
  RunSummary,
} from '../../../machines/contracts/journal-store.ts';
import { guardedWriter } from '../../engine/recording/guarded-writer.ts';
import { jsonOf, type LineReader, type LineWriter, lineReader, lineWriter, unreadable } from '../journal-line.ts';
import type { JournalBackend, JournalBounds, LineSink } from './journal-backend.ts';
import { withLines } from './lines-from.ts';

/** A store of journals on a shelf: what all stores have in common is here. */
export function createJournalStore(shelf: JournalBackend, { redact }: JournalStoreOptions): JournalStore {
  async function* eachOf<Item>(
    runId: string,
    itemOf: (reader: LineReader, line: string) => Item,
  ): AsyncGenerator<Item> {
    const reader = lineReader(`run ${runId}`);
    for await (const line of linesIn(shelf, runId)) yield itemOf(reader, line);
    reader.end();
  }

  const store: JournalStore = {
    create: (runId) => writerTo(shelf.create(runId), lineWriter(redact)),
    read: (runId) => eachOf(runId, (reader, line) => reader.entry(line)),
    async open(runId) {
      const sink = shelf.reopen(runId);
      try {
        const reader = lineReader(`run ${runId}`);
        const entries: JournalEntry[] = [];
        for await (const line of linesIn(shelf, runId)) entries.push(reader.entry(line));
        reader.end();
        if (redact !== undefined) requireRedacted(runId, entries);
        return { entries, writer: writerTo(sink, reader.writer(redact)) };
      } catch (error) {
        sink.close();
        throw error;
      }
    },
    list: async () => (await shelf.spines()).map(summaryOf).toSorted(newestFirst),
  };
  return withLines(store, (runId) => eachOf(runId, (reader, line) => reader.json(line)));
}

/** What the place cannot give is a damaged journal: a file that is none, say, or a page of a database that was changed. */
async function* linesIn(shelf: JournalBackend, runId: string): AsyncGenerator<string> {
  try {
    yield* shelf.lines(runId);
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(`run ${runId}`, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** A journal is redacted from its beginning or not at all: it could not be replayed else. */
function requireRedacted(runId: string, entries: readonly JournalEntry[]): void {
  const [start] = entries;
  if (start?.type !== 'run-start' || start.redacted || entries.at(-1)?.type === 'run-end') return;
  throw new PostChainError(
    'invalid_journal',
    `The run ${JSON.stringify(runId)} was begun without redact; wanted a store without it to go on with the run.`,
  );
}

function writerTo(sink: LineSink, lines: LineWriter): JournalWriter {
  return guardedWriter({ write: (entry) => sink.append(lines.line(entry)), close: () => sink.close() });
}

function summaryOf({ runId, first, last, isWritten }: JournalBounds): RunSummary {
  const start = beginningSchema.safeParse(jsonOf(first));
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

/** Lists show much at once: whether a journal is whole is looked at when it is read. */
const beginningSchema = z.object({
  type: z.literal('run-start'),
  request: z.string(),
  startedAt: z.iso.datetime(),
  forkedFrom: z.object({ runId: z.string(), seq: z.int(), forkedAt: z.iso.datetime() }).nullable(),
});
const lastSchema = z.union([
  z.object({ type: z.literal('run-end'), status: z.enum(['completed', 'degraded', 'cancelled']) }),
  z.object({ type: z.string().refine((type) => type !== 'run-end') }),
]);

function statusOf(last: string, isWritten: boolean): RunStatus {
  const end = lastSchema.safeParse(jsonOf(last));
  if (!end.success) return 'damaged';
  if ('status' in end.data) return end.data.status;
  return isWritten ? 'running' : 'interrupted';
}
