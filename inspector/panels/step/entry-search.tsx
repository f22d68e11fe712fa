import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createEntrySearch } from '../../fold/entry-search.ts';
import { formatNumber } from '../../fold/format.ts';
import { countUpTo } from '../../fold/sorted.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import type { Key } from '../../ui-state/keys.ts';
import type { PanelProps } from '../panel.tsx';

export function EntrySearch({ inspector, view, found }: PanelProps & { readonly found: Found | null }) {
  const input = useRef<HTMLInputElement>(null);
  const isFocusRequested = search.isDue.value;
  // Before painting, so that the next key reaches the search field.
  useLayoutEffect(() => {
    if (!isFocusRequested) return;
    search.isDue.value = false;
    input.current?.focus({ preventScroll: true });
    input.current?.select();
    input.current?.closest('section')?.scrollIntoView();
  }, [isFocusRequested]);

  /** Moves to the next or previous match. */
  function go(to: 1 | -1): void {
    const seqs = found?.seqs ?? [];
    const next = to === 1 ? countUpTo(seqs, view.at) : countUpTo(seqs, view.at - 1) - 1;
    const seq = seqs.at(next % Math.max(1, seqs.length));
    if (seq === undefined) return;
    inspector.moveTo(seq);
    requestAnimationFrame(() => document.getElementById(`entry-${seq}`)?.scrollIntoView({ block: 'nearest' }));
  }

  function leave(): void {
    search.isShown.value = false;
    document.querySelector<HTMLElement>('.step-view')?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && search.text.peek() !== '') search.text.value = '';
    else if (event.key === 'Escape') leave();
    else return;
    event.preventDefault();
  }

  return (
    <search class="entry-search row">
      <input
        ref={input}
        class="fills"
        type="search"
        aria-label="Search the entries"
        placeholder="Search all they contain, or type:decision"
        spellcheck={false}
        value={search.text.value}
        onInput={({ currentTarget }) => {
          search.text.value = currentTarget.value;
        }}
        onKeyDown={onKeyDown}
      />
      <span class="muted" role="status">
        {found === null ? '' : hitsText(found, view.at)}
      </span>
    </search>
  );
}

function hitsText({ seqs, share }: Found, at: number): string {
  const index = countUpTo(seqs, at);
  const number = seqs[index - 1] === at ? `${formatNumber(index)} of ` : '';
  return share < 1
    ? `${formatNumber(seqs.length)} … ${Math.floor(share * 100)} %`
    : `${number}${formatNumber(seqs.length)} found`;
}

/** The search state, kept while other panels are shown. */
export const search = {
  text: signal(''),
  /** All entries are shown, in place of the selected step. */
  isShown: signal(false),
  /** The search field should take the focus. */
  isDue: signal(false),
} as const;

export const searchKey: Key = {
  keys: ['/'],
  description: 'Search the entries',
  group: 'Page',
  act: () => {
    search.isShown.value = true;
    search.isDue.value = true;
  },
};

/** The time per slice, out of a frame of 16 ms. */
const SLICE_MS = 6;
/** A live run may be this many entries ahead of the search. */
const MAX_LAG = 500;

interface Found {
  readonly seqs: readonly number[];
  /** The share of the run that was searched, 0..1. */
  readonly share: number;
}

/** Searches in slices between frames. A new query replaces the running one; new entries are searched as they arrive. */
export function useSearch(view: PanelView, text: string): Found | null {
  const { log, fold, count } = view;
  const [, rerender] = useState(0);
  // A new run or query discards earlier results.
  const search = useMemo(() => (text.trim() === '' ? null : createEntrySearch(log, fold.entries, text)), [log, text]);

  // Searches the first slice before painting.
  useLayoutEffect(() => {
    if (search === null) return undefined;
    let isOver = false;
    const advance = (): void => {
      if (isOver) return;
      const endMs = performance.now() + SLICE_MS;
      const isDone = search.advance(count, () => performance.now() >= endMs);
      rerender((toggle) => toggle + 1);
      if (!isDone) setTimeout(() => requestAnimationFrame(advance));
    };
    advance();
    return () => {
      isOver = true;
    };
  }, [search, count]);

  if (search === null) return null;
  const isCaughtUp = search.reached >= count - MAX_LAG;
  return { seqs: search.found, share: isCaughtUp ? 1 : search.reached / count };
}
