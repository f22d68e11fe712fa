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

interface MemoryJournal {
  readonly id: string;
  readonly entries: DurableEntry[];
  attributes?: Attributes | undefined;
  /** Identifies the writer that holds the journal. */
  holder: object | null;
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
  const bounds = (query?: BoundsQuery) => boundsIn(journals, query);
  const store: Journals = {
    hasChecksums: false,
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
      const journal: MemoryJournal = { id, entries: [], holder: null };
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
      return { entries: readable(journal, options), writer: writerTo(journal, changed, redact) };
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
    yield { id, version: String(entries.length), ends, isWritten: holder !== null };
  }
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
