import { PostChainError } from '../../../machines/contracts/error.ts';
import { pauses } from '../../internal/async.ts';
import { durableFormat } from '../durable-format.ts';
import type { Attributes, DurableEntry } from '../entries.ts';
import { requireKnown } from '../known-options.ts';
import { followJournal } from './follow-journal.ts';
import { guardedWriter } from './guarded-writer.ts';
import { unreadable } from './journal-lines.ts';
import {
  type BoundsQuery,
  fromKeyframe,
  type JournalBounds,
  type Journals,
  type JournalWriter,
  KEYFRAME_EVERY,
  type ReadJournalOptions,
  type Redact,
} from './journal-store.ts';
import {
  journalExists,
  journalInUse,
  journalReplaced,
  listing,
  noSuchJournal,
  placeOf,
  requireId,
  requireStoreOptions,
  subjectOf,
} from './line-store.ts';
import { memoryMailbox } from './mailbox.ts';
import { ClaimLimits, type ClaimQuery, isForgotten } from './queue.ts';

interface MemoryJournal {
  readonly id: string;
  readonly entries: DurableEntry[];
  attributes?: Attributes | undefined;
  /** Identifies the writer that holds the journal. */
  holder: object | null;
  /** Whether it was opened or claimed since it was enqueued. */
  hasLeftQueue: boolean;
}

/** A journal that was claimed. It counts for the limits even after its deletion. */
interface Claimed {
  readonly journal: MemoryJournal;
  readonly key: string | null;
  readonly begunMs: number;
}

/** Keeps journals in memory, for tests and for actors inspected in the same process. It shares the entries with their hosts. */
export function memoryJournals(options: { readonly redact?: Redact } = {}): Journals {
  const { redact } = requireStoreOptions('memoryJournals', options);
  const journals = new Map<string, MemoryJournal>();
  const watchers = new Set<(ids: readonly string[]) => void>();
  const changed = (id: string): void => {
    for (const onChange of watchers) onChange([id]);
  };
  const changes = (onChange: (ids: readonly string[]) => void): (() => void) => {
    watchers.add(onChange);
    return () => void watchers.delete(onChange);
  };
  const find = (id: string): MemoryJournal => {
    const journal = journals.get(requireId(id));
    if (journal === undefined) throw noSuchJournal(id);
    return journal;
  };
  const claims: Claimed[] = [];
  const bounds = (query?: BoundsQuery) => boundsIn(journals, query);
  const { forget, has: hasMail, ...mail } = memoryMailbox(find);
  const store: Journals = {
    hasChecksums: false,
    mail,
    bounds,
    changes,
    tail(id) {
      let count = 0;
      return {
        async *read() {
          const unread = readable(find(id)).slice(count);
          count += unread.length;
          yield unread.map((entry) => JSON.stringify(entry));
        },
      };
    },
    create(id) {
      if (journals.has(requireId(id))) throw journalExists(id);
      const journal: MemoryJournal = { id, entries: [], holder: null, hasLeftQueue: false };
      journals.set(id, journal);
      return writerTo(journal, changed, redact);
    },
    async *read(id, options = {}) {
      requireKnown('read', options);
      yield* readable(find(id), options);
    },
    async open(id, options = {}) {
      requireKnown('open of a store', options);
      const journal = find(id);
      if (!options.force) requireFree(journal);
      const queued = queuedIn(journal);
      // It counts toward `concurrency`, but not toward `rate`.
      if (queued !== null) claims.push({ journal, key: queued.key, begunMs: Number.NEGATIVE_INFINITY });
      journal.hasLeftQueue = true;
      const entries = readable(journal, options);
      return { entries, writer: writerTo(journal, changed, redact), hasMail: hasMail(id) };
    },
    async claim(query) {
      const ids = claimIn(journals, claims, query);
      ids.forEach(changed);
      return ids;
    },
    follow(id, options = {}) {
      requireKnown('follow', options);
      const watch = (onChange: () => void) => changes((ids) => ids.includes(id) && onChange());
      return followJournal({ read: newEntriesOf(() => find(id)), watch, isEnd: durableFormat.isEnd }, options);
    },
    ...listing({
      bounds,
      isOrdered: false,
      read: (id) => store.read(id),
      remove(id) {
        requireFree(find(id));
        journals.delete(id);
        forget(id);
        changed(id);
      },
    }),
  };
  return store;
}

function readable({ id, entries }: MemoryJournal, options: ReadJournalOptions = {}): readonly DurableEntry[] {
  const place = placeOf(id);
  if (entries.length === 0) throw unreadable(place, 'the journal is empty');
  const at = entries.findIndex(({ seq }, index) => seq !== index);
  if (at >= 0) throw unreadable(place, `cannot read entry ${at}: expected seq ${at}; received ${entries[at]?.seq}`);
  return options.fromKeyframe ? fromKeyframe(entries) : [...entries];
}

function requireFree({ id, holder }: MemoryJournal): void {
  if (holder !== null) throw journalInUse(subjectOf(id), 'this process');
}

/** Returns a writer that holds the journal. */
function writerTo(journal: MemoryJournal, changed: (id: string) => void, redact?: Redact): JournalWriter {
  const { id, entries } = journal;
  const holder = {};
  const hold = (by: object | null): void => {
    journal.holder = by;
    changed(id);
  };
  hold(holder);
  return guardedWriter({
    keyframeEvery: KEYFRAME_EVERY,
    write(added) {
      if (journal.holder !== holder)
        throw new PostChainError('journal_fenced', `another writer has taken over ${subjectOf(id)}`);
      const stored = redact ? added.map((entry) => durableFormat.redact(entry, redact)) : added;
      entries.push(...stored);
      for (const entry of stored) journal.attributes = durableFormat.attributesIn(entry) ?? journal.attributes;
      changed(id);
    },
    close() {
      if (journal.holder === holder) hold(null);
    },
  });
}

async function* boundsIn(
  journals: ReadonlyMap<string, MemoryJournal>,
  { ids = [...journals.keys()], onFound }: BoundsQuery = {},
): AsyncGenerator<JournalBounds> {
  const pause = pauses();
  onFound?.(ids.length);
  for (const id of ids) {
    await pause();
    const journal = journals.get(id);
    if (journal === undefined) continue;
    const { entries, holder, attributes } = journal;
    const [isDamaged, lastSeq] = [entries.length === 0, entries.length - 1];
    const ends = { first: entries[0], last: entries.slice(-8), lastSeq, isDamaged, attributes };
    yield {
      id,
      version: String(entries.length),
      ends,
      isWritten: holder !== null,
      isQueued: queuedIn(journal) !== null,
    };
  }
}

/** Returns the place of a journal in the queue; null if it is not queued. */
function queuedIn({ entries, hasLeftQueue }: MemoryJournal) {
  return (!hasLeftQueue && durableFormat.queuedIn(Object(entries.at(-1)))) || null;
}

function claimIn(journals: ReadonlyMap<string, MemoryJournal>, claims: Claimed[], query: ClaimQuery): string[] {
  const { machine, nowMs, count } = query;
  const isOfMachine = ({ entries: [first] }: MemoryJournal) => first?.type === 'start' && first.machine.id === machine;
  const hasEnded = ({ id, entries }: MemoryJournal): boolean =>
    journals.get(id)?.entries !== entries || durableFormat.isEnd(entries.at(-1) as DurableEntry);
  const claimed = claims
    .filter(({ journal }) => isOfMachine(journal))
    .map((claim) => ({ ...claim, hasEnded: hasEnded(claim.journal), claim }));
  for (const each of claimed) if (isForgotten(each, query)) claims.splice(claims.indexOf(each.claim), 1);
  const limits = new ClaimLimits(query, claimed);
  const ids: string[] = [];
  const waiting = [...journals.values()]
    .flatMap((journal) => {
      const queued = journal.holder === null && isOfMachine(journal) ? queuedIn(journal) : null;
      return queued === null || queued.beginsAtMs > nowMs ? [] : [{ journal, ...queued }];
    })
    .toSorted((one, other) => other.priority - one.priority || one.beginsAtMs - other.beginsAtMs);
  for (const { journal, key } of waiting) {
    if (ids.length >= count || limits.isFull) break;
    if (key !== null && limits.fullKeys.includes(key)) continue;
    journal.hasLeftQueue = true;
    claims.push({ journal, key, begunMs: nowMs });
    limits.add(key);
    ids.push(journal.id);
  }
  return ids;
}

/** Returns a function that yields the entries that its earlier calls did not yield. */
function newEntriesOf(find: () => MemoryJournal): () => Generator<DurableEntry> {
  let count = 0;
  let followed: MemoryJournal | null = null;
  return function* read() {
    const journal = find();
    followed ??= journal;
    if (journal !== followed) throw journalReplaced(journal.id);
    for (const { entries } = journal; count < entries.length; ) {
      count += 1;
      yield entries[count - 1] as DurableEntry;
    }
  };
}
