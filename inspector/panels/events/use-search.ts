import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { createEntrySearch } from '../../fold/entry-search.ts';
import type { RunView } from '../../ui-state/inspector.ts';

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
  const [, again] = useState(0);
  // Never one of another run, or of what was asked for before: its numbers would be looked up in this one.
  const search = useMemo(
    () => (text.trim() === '' ? null : createEntrySearch(log, fold.places, text, isHidden)),
    [log, text, isHidden],
  );

  // The first slice is there before anything is drawn.
  useLayoutEffect(() => {
    if (search === null) return undefined;
    let isOver = false;
    const lookOn = (): void => {
      if (isOver) return;
      const endMs = performance.now() + SLICE_MS;
      const isDone = search.lookOn(count, () => performance.now() >= endMs);
      again((turn) => turn + 1);
      if (!isDone) setTimeout(() => requestAnimationFrame(lookOn));
    };
    lookOn();
    return () => {
      isOver = true;
    };
  }, [search, count]);

  if (search === null) return null;
  const isCaughtUp = search.reached >= count - FEW;
  return { seqs: search.found, share: isCaughtUp ? 1 : search.reached / count };
}
