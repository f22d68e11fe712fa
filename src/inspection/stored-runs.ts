import type { JournalEntry, RunWait } from '../../machines/contracts/journal.ts';
import type { JournalStore } from '../chain/journal/journal-format.ts';
import { storedEntry } from '../chain/journal/stored-entries.ts';
import { repeat, type StoredJournals, storedJournalsOf } from '../durable/journals/line-store.ts';

/** How often a store that cannot report changes is listed. */
const POLL_MS = 1_000;

/** A store that is not PostChain's own is polled, and its runs are read from the start each time. */
export function storedRunsOf(store: JournalStore): StoredJournals<JournalEntry> {
  return storedJournalsOf(store) ?? foreignRuns(store);
}

/** Returns the last entry of a run that waits. */
function closedEntry({ since: closedAt, due, ...summary }: RunWait) {
  const dueAtMs = due === null ? null : Date.parse(due);
  return { type: 'closed', closedAt, waiting: { sinceMs: Date.parse(closedAt), dueAtMs, events: [] }, summary };
}

function foreignRuns(store: JournalStore): StoredJournals<JournalEntry> {
  return {
    noun: 'run',
    hasChecksums: false,
    openTail(runId) {
      let count = 0;
      return {
        async *read() {
          let at = 0;
          for await (const entry of store.read(runId)) {
            at += 1;
            if (at <= count) continue;
            count = at;
            yield [{ json: JSON.stringify(storedEntry(entry)), entry: () => entry }];
          }
        },
      };
    },
    async *scan({ ids } = {}) {
      for (const { runId, request, startedAt, forkedFrom, status, waiting } of await store.list()) {
        if (ids !== undefined && !ids.includes(runId)) continue;
        const isOpen = status === 'running' || status === 'interrupted';
        const first = {
          type: 'start',
          input: { request },
          product: { fork: forkedFrom && { forkedAt: startedAt } },
          startedAt,
          forkedFrom: forkedFrom && { actorId: forkedFrom.runId, seq: forkedFrom.seq, clockStartMs: 0 },
        };
        const last =
          isOpen || status === 'damaged' ? [] : [waiting ? closedEntry(waiting) : { type: 'end', summary: { status } }];
        // Only reading the run could tell whether it has grown.
        const version = status === 'running' ? `${status} ${performance.now()}` : status;
        const isDamaged = status === 'damaged';
        yield { id: runId, version, ends: { first, last, lastSeq: -1, isDamaged }, isWritten: status === 'running' };
      }
    },
    watch: (onChange) => repeat(POLL_MS, () => onChange(null)),
  };
}
