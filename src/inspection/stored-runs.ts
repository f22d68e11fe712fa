import type { JournalEntry, RunSummary, RunWait } from '../../machines/contracts/journal.ts';
import { isStartOfRun, type JournalStore } from '../chain/journal/journal-format.ts';
import { storedEntry } from '../chain/journal/stored-entries.ts';
import type { ActorSummary } from '../durable/durable-format.ts';
import type { DurableMachineOptions } from '../durable/durable-machine.ts';
import type { BoundsQuery, JournalBounds, JournalTail } from '../durable/journals/journal-store.ts';
import { repeat } from '../durable/journals/line-store.ts';

/** How often a store that cannot report changes is listed. */
const POLL_MS = 1_000;

/** A store of runs or of the actors of any machine. Runs are durable actors, so one store may contain both. */
export type AnyJournals = Pick<
  JournalStore | DurableMachineOptions['journals'],
  'list' | 'read' | 'delete' | 'tail' | 'bounds' | 'changes' | 'hasChecksums'
>;

/** Returns a reader of a journal; without `tail`, it is read from the start each time. */
export function tailOf(store: AnyJournals, id: string): JournalTail {
  if (store.tail !== undefined) return store.tail(id);
  let count = 0;
  let isStored = false;
  return {
    async *read() {
      let at = 0;
      for await (const entry of store.read(id)) {
        at += 1;
        if (at <= count) continue;
        count = at;
        isStored ||= entry.type === 'start' && !isStartOfRun(entry);
        yield [JSON.stringify(isStored ? entry : storedEntry(entry as JournalEntry))];
      }
    },
  };
}

export const changesOf = (store: AnyJournals, onChange: (ids: readonly string[] | null) => void): (() => void) =>
  store.changes?.(onChange) ?? repeat(POLL_MS, () => onChange(null));

export const boundsOf = (store: AnyJournals, query: BoundsQuery = {}): AsyncIterable<JournalBounds> =>
  store.bounds?.(query) ?? listedBounds(store, query);

async function* listedBounds(store: AnyJournals, { ids }: BoundsQuery): AsyncGenerator<JournalBounds> {
  for (const summary of await store.list()) {
    const { id, status } = summary;
    if (ids !== undefined && !ids.includes(id)) continue;
    const isOpen = status === 'running' || status === 'interrupted' || (status === 'waiting' && !summary.waiting);
    const { first, last } = 'request' in summary ? endsOfRun(summary) : endsOfActor(summary);
    // Whether the run has grown is known only after reading it.
    const version =
      status === 'running' ? `${status} ${performance.now()}` : `${status} ${JSON.stringify(summary.waiting)}`;
    const isDamaged = status === 'damaged';
    const ends = { first, last: isOpen || isDamaged ? [] : [last], lastSeq: -1, isDamaged };
    yield { id, version, ends, isWritten: status === 'running' };
  }
}

/** Returns the last entry of a run that waits. */
function closedEntry({ since: closedAt, due, ...summary }: RunWait) {
  const dueAtMs = due === null ? null : Date.parse(due);
  return { type: 'closed', closedAt, waiting: { sinceMs: Date.parse(closedAt), dueAtMs, events: [] }, summary };
}

function endsOfRun({ request, startedAt, forkedFrom, status, waiting }: RunSummary) {
  const first = {
    type: 'start',
    input: { request },
    product: { fork: forkedFrom && { forkedAt: startedAt } },
    startedAt,
    forkedFrom: forkedFrom && { ...forkedFrom, clockStartMs: 0 },
  };
  return { first, last: waiting ? closedEntry(waiting) : { type: 'end', summary: { status } } };
}

function endsOfActor({ machine, startedAt, forkedFrom, status, waiting }: ActorSummary) {
  const first = { type: 'start', product: null, machine, startedAt, forkedFrom };
  return { first, last: waiting ? { type: 'closed', waiting } : { type: 'end', status } };
}
