import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Places } from './places.ts';

/** A search through the lines of a run, a slice at a time. */
export interface EntrySearch {
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
 * Finds the entries whose line holds a text, whatever its case. `type:decision` anywhere in what is asked for leaves only those kinds whose
 * names begin so; several of them stand beside each other.
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

/** Lines are JSON: what is escaped there is escaped in what is asked for. */
function textFinder(text: string): RegExp {
  const written = JSON.stringify(text).slice(1, -1);
  return new RegExp(written.replace(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&'), 'iu');
}
