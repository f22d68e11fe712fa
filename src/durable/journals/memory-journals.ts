import { PostChainError } from '../../../machines/contracts/error.ts';
import { pauses } from '../../internal/async.ts';
import { durableFormat } from '../durable-format.ts';
import type { DurableEntry } from '../entries.ts';
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
  readonly entries: DurableEntry[];
  /** Identifies the writer that holds the journal. */
  holder: object | null;
}

/** Keeps journals in memory, for tests and for actors inspected in the same process. It shares the entries with their hosts. */
export function memoryJournals(options: { readonly redact?: Redact } = {}): Journals {
  requireStoreOptions('memoryJournals', options);
  const { redact } = options;
  const journals = new Map<string, MemoryJournal>();
  const watchers = new Set<(ids: readonly string[]) => void>();
  const changed = (id: string): void => {
    for (const onChange of watchers) onChange([id]);
  };
  const find = (id: string): MemoryJournal => {
    const journal = journals.get(requireId(id));
    if (journal === undefined) throw noSuchJournal(id);
    return journal;
  };
  const readable = (id: string, options: ReadJournalOptions = {}): readonly DurableEntry[] => {
    const { entries } = find(id);
    const place = placeOf(id);
    if (entries.length === 0) throw unreadable(place, 'the journal is empty');
    const at = entries.findIndex(({ seq }, index) => seq !== index);
    if (at >= 0) throw unreadable(place, `cannot read entry ${at}: expected seq ${at}; received ${entries[at]?.seq}`);
    return options.fromKeyframe ? fromKeyframe(entries) : [...entries];
  };
  const stored = (entry: DurableEntry): DurableEntry => (redact ? durableFormat.redact(entry, redact) : entry);
  const writerOf = (id: string, journal: MemoryJournal): JournalWriter => {
    const holder = {};
    const hold = (by: object | null): void => {
      journal.holder = by;
      changed(id);
    };
    hold(holder);
    return guardedWriter({
      keyframeEvery: KEYFRAME_EVERY,
      write(entries) {
        if (journal.holder !== holder)
          throw new PostChainError('journal_fenced', `another writer has taken over ${subjectOf(id)}`);
        journal.entries.push(...entries.map(stored));
        changed(id);
      },
      close() {
        if (journal.holder === holder) hold(null);
      },
    });
  };

  async function* bounds({ ids = [...journals.keys()], onFound }: BoundsQuery = {}): AsyncGenerator<JournalBounds> {
    const pause = pauses();
    onFound?.(ids.length);
    for (const id of ids) {
      await pause();
      const journal = journals.get(id);
      if (journal === undefined) continue;
      const { entries, holder } = journal;
      const ends = {
        first: entries[0],
        last: entries.slice(-8),
        lastSeq: entries.length - 1,
        isDamaged: entries.length === 0,
      };
      yield { id, version: String(entries.length), ends, isWritten: holder !== null };
    }
  }

  const changes = (onChange: (ids: readonly string[]) => void): (() => void) => {
    watchers.add(onChange);
    return () => void watchers.delete(onChange);
  };

  const store: Journals = {
    hasChecksums: false,
    bounds,
    changes,
    tail(id) {
      let count = 0;
      return {
        async *read() {
          const unread = readable(id).slice(count);
          count += unread.length;
          yield unread.map((entry) => JSON.stringify(entry));
        },
      };
    },
    create(id) {
      requireId(id);
      if (journals.has(id)) throw journalExists(id);
      const journal: MemoryJournal = { entries: [], holder: null };
      journals.set(id, journal);
      return writerOf(id, journal);
    },
    async *read(id, options = {}) {
      requireKnown('read', options);
      yield* readable(id, options);
    },
    async open(id, options = {}) {
      requireKnown('open of a store', options);
      const journal = find(id);
      if (journal.holder !== null && !options.force) throw journalInUse(subjectOf(id), 'this process');
      return { entries: readable(id, options), writer: writerOf(id, journal) };
    },
    follow(id, options = {}) {
      requireKnown('follow', options);
      let count = 0;
      let followed: MemoryJournal | null = null;
      return followJournal(
        {
          *read() {
            const journal = find(id);
            followed ??= journal;
            if (journal !== followed) throw journalReplaced(id);
            for (const { entries } = journal; count < entries.length; ) {
              count += 1;
              yield entries[count - 1] as DurableEntry;
            }
          },
          watch: (onChange) => changes((ids) => ids.includes(id) && onChange()),
          isEnd: durableFormat.isEnd,
        },
        options,
      );
    },
    ...listing({
      bounds,
      isOrdered: false,
      read: (id) => store.read(id),
      remove(id) {
        if (find(id).holder !== null) throw journalInUse(subjectOf(id), 'this process');
        journals.delete(id);
        changed(id);
      },
    }),
  };
  return store;
}
