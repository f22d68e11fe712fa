import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { type LineWriter, lineReader, lineWriter } from '../journal-line.ts';
import type { JournalStore, JournalStoreOptions, JournalWriter, RunStatus, RunSummary } from './journal-store.ts';
import type { LineSink, Shelf, Spine } from './shelf.ts';

/** A store of journals on a shelf: what all stores have in common is here. */
export function storeOn(shelf: Shelf, { redact }: JournalStoreOptions): JournalStore {
  return {
    create: (runId) => writerTo(shelf.create(runId), lineWriter(redact)),
    async *read(runId) {
      const reader = lineReader(`run ${runId}`);
      for await (const line of shelf.lines(runId)) yield reader.entry(line);
    },
    async open(runId) {
      const sink = shelf.reopen(runId);
      try {
        const reader = lineReader(`run ${runId}`);
        const entries: JournalEntry[] = [];
        for await (const line of shelf.lines(runId)) entries.push(reader.entry(line));
        return { entries, writer: writerTo(sink, reader.writer(redact)) };
      } catch (error) {
        sink.close();
        throw error;
      }
    },
    list: async () => (await shelf.spines()).map(summaryOf).toSorted(newestFirst),
  };
}

function writerTo(sink: LineSink, lines: LineWriter): JournalWriter {
  let failure: string | null = null;
  return {
    get failure() {
      return failure;
    },
    write(entry) {
      if (failure !== null) return;
      try {
        sink.append(lines.line(entry));
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
    },
    close: sink.close,
  };
}

function summaryOf({ runId, first, last, isWritten }: Spine): RunSummary {
  const start = entryOf(first);
  if (start?.type !== 'run-start') return { runId, request: '', startedAt: '', forkedFrom: null, status: 'damaged' };
  const { request, forkedFrom } = start;
  const startedAt = forkedFrom?.forkedAt ?? start.startedAt;
  return {
    runId,
    request,
    startedAt,
    forkedFrom: forkedFrom && { runId: forkedFrom.runId, seq: forkedFrom.seq },
    status: statusOf(entryOf(last), isWritten),
  };
}

const newestFirst = (one: RunSummary, other: RunSummary): number =>
  one.startedAt < other.startedAt ? 1 : one.startedAt > other.startedAt ? -1 : 0;

function statusOf(end: JournalEntry | null, isWritten: boolean): RunStatus {
  if (end === null) return 'damaged';
  if (end.type === 'run-end') return end.status;
  return isWritten ? 'running' : 'interrupted';
}

/** Lists show much at once: whether a journal is whole is looked at when it is read. */
function entryOf(line: string): JournalEntry | null {
  try {
    return JSON.parse(line) as JournalEntry;
  } catch {
    return null;
  }
}
