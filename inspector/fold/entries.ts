import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { RunLog } from '../wire/run-log.ts';
import { isExternalEventType } from './external-events.ts';
import type { Places } from './places.ts';
import { countUpTo } from './sorted.ts';

type EntryType = JournalEntry['type'];

/** The kinds of entries that a list can be cut to, in the order in which they are offered. */
export const ENTRY_GROUPS = [
  'run',
  'phases',
  'decisions',
  'transitions',
  'attempts',
  'calls',
  'text',
  'state',
  'context',
  'sent and asked',
] as const;
export type EntryGroup = (typeof ENTRY_GROUPS)[number];

const groups: Readonly<Record<EntryType, EntryGroup>> = {
  'run-start': 'run',
  resumed: 'run',
  'run-stopped': 'run',
  'session-recalled': 'run',
  'session-stored': 'run',
  answer: 'run',
  'run-end': 'run',
  'phase-start': 'phases',
  'phase-end': 'phases',
  recovery: 'phases',
  decision: 'decisions',
  transition: 'transitions',
  'attempt-start': 'attempts',
  'attempt-end': 'attempts',
  'attempt-retry': 'attempts',
  'call-start': 'calls',
  'call-event': 'calls',
  timer: 'calls',
  retrieval: 'calls',
  'capability-start': 'calls',
  'capability-end': 'calls',
  'capability-stop': 'calls',
  continuation: 'calls',
  'text-delta': 'text',
  state: 'state',
  keyframe: 'state',
  operations: 'context',
  'context-evaluated': 'context',
  delivery: 'sent and asked',
  'consent-asked': 'sent and asked',
  'consent-resolved': 'sent and asked',
  'direction-asked': 'sent and asked',
  'direction-refused': 'sent and asked',
};

/** A kind that this page does not know is of the run. */
export const groupOf = (type: EntryType): EntryGroup => groups[type] ?? 'run';

/** The origin of an entry: an external event, the charts, or an annotation. */
type Origin = 'outside' | 'chart' | 'note';

const NOTES: ReadonlySet<string> = new Set<EntryType>(['retrieval', 'text-delta', 'resumed']);

export function originOf(type: EntryType): Origin {
  if (isExternalEventType(type)) return 'outside';
  return NOTES.has(type) ? 'note' : 'chart';
}

/** The entries that a list shows, in order. */
export interface EntryList {
  readonly size: number;
  seqAt(place: number): number;
  /** The index of the last one at or before an entry; -1 if there is none. */
  placeOf(seq: number): number;
}

/** The first `count` entries. */
const wholeList = (count: number): EntryList => ({
  size: count,
  seqAt: (place) => place,
  placeOf: (seq) => Math.min(seq, count - 1),
});

/** These alone, in ascending order. */
export const listOf = (seqs: readonly number[]): EntryList => ({
  size: seqs.length,
  seqAt: (place) => seqs[place] ?? 0,
  placeOf: (seq) => countUpTo(seqs, seq) - 1,
});

/** How many entries of each group there are. */
export function groupCounts(places: Places): ReadonlyMap<EntryGroup, number> {
  const counts = new Map<EntryGroup, number>();
  for (const type of places.types) {
    const group = groupOf(type);
    counts.set(group, (counts.get(group) ?? 0) + places.of(type).length);
  }
  return counts;
}

/** The entries without those of some groups. It takes each entry once, as the run grows. */
export function createGroupFilter(places: Places, hidden: ReadonlySet<EntryGroup>) {
  const seqs: number[] = [];
  const isHidden = (type: JournalEntry['type']): boolean => hidden.has(groupOf(type));
  let taken = 0;
  return {
    isHidden,
    listOf(count: number): EntryList {
      if (hidden.size === 0) return wholeList(count);
      for (; taken < count; taken += 1) if (!isHidden(places.typeOf(taken))) seqs.push(taken);
      return listOf(seqs);
    },
  };
}

/** A search through the lines of a run, a slice at a time. */
interface EntrySearch {
  /** What was found so far, ascending. The list grows. */
  readonly found: readonly number[];
  /** How many entries were looked at. */
  readonly reached: number;
  /** Looks on until time is up or the first `count` entries are done. Gives whether they are. */
  lookOn(count: number, isTimeUp: () => boolean): boolean;
}

/** Entries between two looks at the clock. */
const STRIDE = 64;

const TYPED = /(?:^|\s)type:(\S*)/giu;

/**
 * Finds the entries whose line contains a text, ignoring case. `type:decision` in the query keeps only entry types with
 * that prefix; several can be combined.
 */
export function createEntrySearch(
  log: RunLog,
  places: Places,
  asked: string,
  isHidden: (type: JournalEntry['type']) => boolean = () => false,
): EntrySearch {
  const types = [...asked.matchAll(TYPED)].map(([, name = '']) => name.toLowerCase());
  const text = asked.replace(TYPED, ' ').trim();
  const wanted = text === '' ? null : textFinder(text);
  const isWanted = (type: string): boolean => types.length === 0 || types.some((name) => type.startsWith(name));
  const found: number[] = [];
  let reached = 0;

  function look(seq: number): void {
    const type = places.typeOf(seq);
    if (isHidden(type) || !isWanted(type)) return;
    if (wanted === null || wanted.test(log.line(seq))) found.push(seq);
  }

  return {
    found,
    get reached() {
      return reached;
    },
    lookOn(count, isTimeUp) {
      while (reached < count) {
        const until = Math.min(count, reached + STRIDE);
        for (; reached < until; reached += 1) look(reached);
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
