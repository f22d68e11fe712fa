import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { SystemEntry } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { EntryIndex } from './entry-index.ts';
import { isExternalEventType } from './external-events.ts';
import { countUpTo } from './sorted.ts';

type EntryType = JournalEntry['type'] | SystemEntry['type'];

/** The groups by which entries can be filtered, in display order. */
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
  'user input',
] as const;
export type EntryGroup = (typeof ENTRY_GROUPS)[number];

const groups: Readonly<Record<EntryType, EntryGroup>> = {
  start: 'run',
  'actor-end': 'run',
  attachment: 'run',
  resumed: 'run',
  closed: 'run',
  stopped: 'run',
  'session-recalled': 'run',
  'session-stored': 'run',
  answer: 'run',
  end: 'run',
  'phase-start': 'phases',
  'phase-end': 'phases',
  recovery: 'phases',
  decision: 'decisions',
  transition: 'transitions',
  ignored: 'transitions',
  'attempt-start': 'attempts',
  'attempt-end': 'attempts',
  'attempt-retry': 'attempts',
  value: 'attempts',
  'model-status': 'attempts',
  'activity-start': 'calls',
  'activity-event': 'calls',
  failed: 'calls',
  timer: 'calls',
  'timer-start': 'calls',
  noted: 'calls',
  retrieval: 'calls',
  'capability-start': 'calls',
  'capability-end': 'calls',
  'capability-stop': 'calls',
  continuation: 'calls',
  prompt: 'attempts',
  'text-delta': 'text',
  state: 'state',
  keyframe: 'state',
  operations: 'context',
  'context-evaluated': 'context',
  delivery: 'user input',
  'consent-asked': 'user input',
  'consent-resolved': 'user input',
  'approval-asked': 'user input',
  'approval-resolved': 'user input',
  'context-overruled': 'user input',
  'direction-asked': 'user input',
  'direction-refused': 'user input',
  'answer-refused': 'user input',
};

/** Unknown types count as `run`. */
export const groupOf = (type: EntryType): EntryGroup => groups[type] ?? 'run';

/** The origin of an entry: an external event, the charts, or an annotation. */
type Origin = 'outside' | 'chart' | 'note';

const NOTES: ReadonlySet<string> = new Set<EntryType>([
  'retrieval',
  'text-delta',
  'prompt',
  'attachment',
  'resumed',
  'closed',
  'noted',
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
const wholeList = (count: number): EntryList => ({
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

export function groupCounts(entries: EntryIndex): ReadonlyMap<EntryGroup, number> {
  const counts = new Map<EntryGroup, number>();
  for (const type of entries.types) {
    const group = groupOf(type);
    counts.set(group, (counts.get(group) ?? 0) + entries.of(type).length);
  }
  return counts;
}

/** Lists the entries outside some groups. Reads each entry once as the run grows. */
export function createGroupFilter(entries: EntryIndex, hidden: ReadonlySet<EntryGroup>) {
  const seqs: number[] = [];
  const isHidden = (type: JournalEntry['type']): boolean => hidden.has(groupOf(type));
  let taken = 0;
  return {
    isHidden,
    listOf(count: number): EntryList {
      if (hidden.size === 0) return wholeList(count);
      for (; taken < count; taken += 1) if (!isHidden(entries.typeOf(taken))) seqs.push(taken);
      return entryListOf(seqs);
    },
  };
}

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
export function createEntrySearch(
  log: RunLog,
  entries: EntryIndex,
  query: string,
  isHidden: (type: JournalEntry['type']) => boolean = () => false,
): EntrySearch {
  const types = [...query.matchAll(TYPED)].map(([, name = '']) => name.toLowerCase());
  const text = query.replace(TYPED, ' ').trim();
  const pattern = text === '' ? null : textFinder(text);
  const isRequestedType = (type: string): boolean => types.length === 0 || types.some((name) => type.startsWith(name));
  const found: number[] = [];
  let reached = 0;

  function check(seq: number): void {
    const type = entries.typeOf(seq);
    if (isHidden(type) || !isRequestedType(type)) return;
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
