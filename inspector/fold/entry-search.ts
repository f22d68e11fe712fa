import type { RunLog } from '../wire/run-log.ts';
import type { EntryIndex } from './entry-index.ts';

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
