import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { DurableEvent } from '../../src/durable/entries.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { EntryIndex } from './entry-index.ts';
import { isExternalEventType } from './external-events.ts';
import { countUpTo } from './sorted.ts';

type EntryType = JournalEntry['type'] | DurableEvent['type'];

/** The origin of an entry: an external event, the charts, or an annotation. */
type Origin = 'outside' | 'chart' | 'note';

const NOTES: ReadonlySet<string> = new Set<EntryType>([
  'retrieval',
  'text-delta',
  'prompt',
  'attachment',
  'resumed',
  'closed',
  'note',
  'effect-end',
  'keyframe',
]);

export function originOfType(type: EntryType): Origin {
  if (isExternalEventType(type)) return 'outside';
  return NOTES.has(type) ? 'note' : 'chart';
}

/** The entries that a list shows, in order. */
export interface EntryList {
  readonly size: number;
  seqAt(index: number): number;
  /** The index of the last listed entry at or before an entry; -1 if there is none. */
  indexOf(seq: number): number;
}

/** The first `count` entries. */
export const wholeList = (count: number): EntryList => ({
  size: count,
  seqAt: (index) => index,
  indexOf: (seq) => Math.min(seq, count - 1),
});

/** Only these entries, ascending. */
export const entryListOf = (seqs: readonly number[]): EntryList => ({
  size: seqs.length,
  seqAt: (index) => seqs[index] ?? 0,
  indexOf: (seq) => countUpTo(seqs, seq) - 1,
});

/** A search through the lines of a run, a slice at a time. */
interface EntrySearch {
  /** The matches so far, ascending. The list grows. */
  readonly found: readonly number[];
  readonly reached: number;
  /** Continues until the first `count` entries are searched or time is up; returns whether they all are. */
  advance(count: number, isTimeUp: () => boolean): boolean;
}

/** Entries between two checks of the clock. */
const STRIDE = 64;

const TYPED = /(?:^|\s)type:(\S*)/giu;

/**
 * Finds the entries whose line contains a text, ignoring case. `type:decision` in the query keeps only entry types with
 * that prefix; several can be combined.
 */
export function createEntrySearch(log: RunLog, entries: EntryIndex, query: string): EntrySearch {
  const types = [...query.matchAll(TYPED)].map(([, name = '']) => name.toLowerCase());
  const text = query.replace(TYPED, ' ').trim();
  const pattern = text === '' ? null : textFinder(text);
  const isRequestedType = (type: string): boolean => types.length === 0 || types.some((name) => type.startsWith(name));
  const found: number[] = [];
  let reached = 0;

  function check(seq: number): void {
    if (!isRequestedType(entries.typeOf(seq))) return;
    if (pattern === null || pattern.test(log.line(seq))) found.push(seq);
  }

  return {
    found,
    get reached() {
      return reached;
    },
    advance(count, isTimeUp) {
      while (reached < count) {
        const until = Math.min(count, reached + STRIDE);
        for (; reached < until; reached += 1) check(reached);
        if (isTimeUp()) break;
      }
      return reached >= count;
    },
  };
}

/** Lines are JSON: escape the query in the same way. */
function textFinder(text: string): RegExp {
  const written = JSON.stringify(text).slice(1, -1);
  return new RegExp(written.replace(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&'), 'iu');
}
