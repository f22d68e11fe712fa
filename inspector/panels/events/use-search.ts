import { useEffect, useState } from 'preact/hooks';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { createEntrySearch, type EntrySearch } from '../../fold/entry-search.ts';
import type { RunView } from '../../shown/inspector.ts';

/** Of a frame of 16 ms, so much is taken at a time. */
const SLICE_MS = 6;
/** What a live run may be ahead by: it is looked at a moment later. */
const FEW = 500;

export interface Found {
  readonly seqs: readonly number[];
  /** How much of the run was looked at, 0..1. */
  readonly share: number;
}

/** Searches in slices between frames. What is asked for next takes the place of what is under way; a run that grows is searched on. */
export function useSearch(
  view: RunView,
  text: string,
  isHidden: (type: JournalEntry['type']) => boolean,
): Found | null {
  const { log, fold, count } = view;
  const [search, setSearch] = useState<EntrySearch | null>(null);
  const [, again] = useState(0);

  useEffect(() => {
    setSearch(text.trim() === '' ? null : createEntrySearch(log, fold.places, text, isHidden));
  }, [log, text, isHidden]);

  useEffect(() => {
    if (search === null) return undefined;
    let due: ReturnType<typeof setTimeout> | undefined;
    const lookOn = (): void => {
      const endMs = performance.now() + SLICE_MS;
      const isDone = search.lookOn(count, () => performance.now() >= endMs);
      again((turn) => turn + 1);
      if (!isDone) due = setTimeout(() => requestAnimationFrame(lookOn));
    };
    lookOn();
    return () => clearTimeout(due);
  }, [search, count]);

  if (search === null) return null;
  const isCaughtUp = search.reached >= count - FEW;
  return { seqs: search.found, share: isCaughtUp ? 1 : search.reached / count };
}
