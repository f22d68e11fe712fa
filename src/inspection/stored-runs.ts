import type { JournalEntry, RunSummary, RunWait } from '../../machines/contracts/journal.ts';
import type { JournalStore } from '../chain/journal/journal-format.ts';
import { storedEntry } from '../chain/journal/stored-entries.ts';
import type { ActorSummary } from '../durable/durable-format.ts';
import type { JournalFormat, StoredEntry } from '../durable/journals/journal-store.ts';
import { type JournalTail, repeat, type StoredJournals, storedJournalsOf } from '../durable/journals/line-store.ts';
import type { ActorJournals } from '../durable/stores.ts';

/** How often a store that cannot report changes is listed. */
const POLL_MS = 1_000;

/** A store of runs or of the actors of any machine. Runs are durable actors, so one store may contain both. */
export type AnyJournals = Pick<JournalStore | ActorJournals, 'list' | 'read' | 'delete'>;

/** A store that is not PostChain's own is polled, and its runs are read from the start each time. */
export function storedRunsOf(store: AnyJournals): StoredJournals<JournalEntry> {
  return storedJournalsOf(store as JournalStore) ?? foreignRuns(store);
}

/** Returns the last entry of a run that waits. */
function closedEntry({ since: closedAt, due, ...summary }: RunWait) {
  const dueAtMs = due === null ? null : Date.parse(due);
  return { type: 'closed', closedAt, waiting: { sinceMs: Date.parse(closedAt), dueAtMs, events: [] }, summary };
}

function foreignRuns(store: AnyJournals): StoredJournals<JournalEntry> {
  return {
    noun: 'run',
    hasChecksums: false,
    openTail<As>(runId: string, as?: JournalFormat<As & StoredEntry, unknown>): JournalTail<As> {
      let count = 0;
      let isStored = false;
      return {
        async *read() {
          let at = 0;
          for await (const entry of store.read(runId)) {
            at += 1;
            if (at <= count) continue;
            count = at;
            isStored ||= entry.type === 'start' && Object(entry).product === null;
            const json = JSON.stringify(isStored ? entry : storedEntry(entry as JournalEntry));
            yield [{ json, entry: () => (isStored && as ? as.parse(JSON.parse(json)) : (entry as As)) }];
          }
        },
      };
    },
    async *scan({ ids } = {}) {
      for (const summary of await store.list()) {
        const id = 'runId' in summary ? summary.runId : summary.id;
        if (ids !== undefined && !ids.includes(id)) continue;
        const { status } = summary;
        const isOpen = status === 'running' || status === 'interrupted' || (status === 'waiting' && !summary.waiting);
        const { first, last } = 'runId' in summary ? endsOfRun(summary) : endsOfActor(summary);
        // Whether the run has grown is known only after reading it.
        const version =
          status === 'running' ? `${status} ${performance.now()}` : `${status} ${JSON.stringify(summary.waiting)}`;
        const isDamaged = status === 'damaged';
        const ends = { first, last: isOpen || isDamaged ? [] : [last], lastSeq: -1, isDamaged };
        yield { id, version, ends, isWritten: status === 'running' };
      }
    },
    watch: (onChange) => repeat(POLL_MS, () => onChange(null)),
  };
}

function endsOfRun({ request, startedAt, forkedFrom, status, waiting }: RunSummary) {
  const first = {
    type: 'start',
    input: { request },
    product: { fork: forkedFrom && { forkedAt: startedAt } },
    startedAt,
    forkedFrom: forkedFrom && { actorId: forkedFrom.runId, seq: forkedFrom.seq, clockStartMs: 0 },
  };
  return { first, last: waiting ? closedEntry(waiting) : { type: 'end', summary: { status } } };
}

function endsOfActor({ machine, startedAt, forkedFrom, status, waiting }: ActorSummary) {
  const first = { type: 'start', product: null, machine, startedAt, forkedFrom };
  return { first, last: waiting ? { type: 'closed', waiting } : { type: 'end', status } };
}
