import type {
  ActorSummary,
  BoundsQuery,
  JournalBounds,
  JournalStore,
  JournalTail,
} from '../durable/journals/journal-store.ts';
import { repeat } from '../durable/journals/line-store.ts';

/** How often a store that cannot report changes is listed. */
const POLL_MS = 1_000;

/** The parts of a store that the inspector uses. */
export type InspectedStore = Pick<
  JournalStore,
  'list' | 'read' | 'delete' | 'tail' | 'bounds' | 'changes' | 'hasChecksums'
>;

/** Passes on the entries of a journal that its earlier calls did not. */
export type ReadNew<Entry> = (take: (entry: Entry) => void) => Promise<void>;

/** Returns a reader of a journal; without `tail`, it is read from the start each time. */
export function tailOf(store: InspectedStore, id: string): JournalTail {
  if (store.tail !== undefined) return store.tail(id);
  let count = 0;
  return {
    async *read() {
      let at = 0;
      for await (const entry of store.read(id)) {
        at += 1;
        if (at <= count) continue;
        count = at;
        yield [JSON.stringify(entry)];
      }
    },
  };
}

export const changesOf = (store: InspectedStore, onChange: (ids: readonly string[] | null) => void): (() => void) =>
  store.changes?.(onChange) ?? repeat(() => onChange(null), POLL_MS);

export const boundsOf = (store: InspectedStore, query: BoundsQuery = {}): AsyncIterable<JournalBounds> =>
  store.bounds?.(query) ?? listedBounds(store, query);

async function* listedBounds(store: InspectedStore, { ids }: BoundsQuery): AsyncGenerator<JournalBounds> {
  for (const summary of await store.list()) {
    const { id, status } = summary;
    if (ids !== undefined && !ids.includes(id)) continue;
    const isOpen = status === 'running' || status === 'interrupted' || (status === 'waiting' && !summary.waiting);
    const { first, last } = endsOf(summary);
    // Whether the run has grown is known only after reading it.
    const version =
      status === 'running' ? `${status} ${performance.now()}` : `${status} ${JSON.stringify(summary.waiting)}`;
    const isDamaged = status === 'damaged';
    const { attributes } = summary;
    const ends = { first, last: isOpen || isDamaged ? [] : [last], lastSeq: -1, isDamaged, attributes };
    yield { id, version, ends, isWritten: status === 'running' };
  }
}

/** Returns a first and a last entry that say what a list does. */
function endsOf({ machine, title, startedAt, forkedFrom, status, summary, waiting }: ActorSummary) {
  const origin = forkedFrom && { ...forkedFrom, clockStartMs: 0 };
  const first = { type: 'start', machine, input: { request: title }, product: {}, startedAt, forkedFrom: origin };
  const last = waiting ? { type: 'closed', waiting, summary: waiting.summary } : { type: 'end', status, summary };
  return { first, last };
}
