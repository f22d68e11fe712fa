import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { createEntrySearch, type EntryGroup } from '../../fold/entries.ts';
import { grouped } from '../../fold/format.ts';
import { countUpTo } from '../../fold/sorted.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import type { Key } from '../../ui-state/keys.ts';
import { shownPanel } from '../../ui-state/panel.ts';
import { Icon } from '../icon.tsx';
import type { PanelProps } from '../panel.tsx';

interface SearchProps extends PanelProps {
  readonly found: Found | null;
}

/** The search field, the number of matches, and buttons to move between them. */
export function EventSearch({ inspector, view, found }: SearchProps) {
  const input = useRef<HTMLInputElement>(null);
  const isDue = asked.isDue.value;
  // Before anything is drawn: the next key is the search's already.
  useLayoutEffect(() => {
    if (!isDue) return;
    asked.isDue.value = false;
    input.current?.focus();
    input.current?.select();
  }, [isDue]);

  function go(to: 1 | -1): void {
    const seqs = found?.seqs ?? [];
    const next = to === 1 ? countUpTo(seqs, view.at) : countUpTo(seqs, view.at - 1) - 1;
    const seq = seqs.at(next % Math.max(1, seqs.length));
    if (seq !== undefined) inspector.moveTo(seq);
  }

  function hear(event: KeyboardEvent): void {
    if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && asked.text.peek() !== '') asked.text.value = '';
    else return;
    event.preventDefault();
  }

  const none = found === null || found.seqs.length === 0;
  return (
    <search class="event-search">
      <input
        ref={input}
        type="search"
        aria-label="Search the events"
        placeholder="Search, or type:decision ( / )"
        spellcheck={false}
        value={asked.text.value}
        onInput={({ currentTarget }) => {
          asked.text.value = currentTarget.value;
        }}
        onKeyDown={hear}
      />
      <button
        type="button"
        aria-label="Previous match"
        title="Previous match (Shift+Enter)"
        disabled={none}
        onClick={() => go(-1)}
      >
        <Icon name="up" />
      </button>
      <button type="button" aria-label="Next match" title="Next match (Enter)" disabled={none} onClick={() => go(1)}>
        <Icon name="down" />
      </button>
      <span class="event-hits" role="status">
        {found === null ? '' : hitsText(found, view.at)}
      </span>
      <label>
        <input
          type="checkbox"
          aria-label="Show only matches"
          checked={asked.onlyFound.value}
          onChange={({ currentTarget }) => {
            asked.onlyFound.value = currentTarget.checked;
          }}
        />
        only matches
      </label>
    </search>
  );
}

function hitsText({ seqs, share }: Found, at: number): string {
  const place = countUpTo(seqs, at);
  const number = seqs[place - 1] === at ? `${grouped(place)} of ` : '';
  return share < 1
    ? `${grouped(seqs.length)} … ${Math.floor(share * 100)} %`
    : `${number}${grouped(seqs.length)} found`;
}

/** The search text. It is kept while other panels are shown. */
export const asked = {
  hidden: signal<ReadonlySet<EntryGroup>>(new Set()),
  text: signal(''),
  /** List only matches. */
  onlyFound: signal(false),
  /** The search wants the keyboard. */
  isDue: signal(false),
} as const;

export const searchKey: Key = {
  keys: ['/'],
  does: 'Search the events',
  group: 'Page',
  act: () => {
    shownPanel.value = 'events';
    asked.isDue.value = true;
  },
};

/** Of a frame of 16 ms, so much is taken at a time. */
const SLICE_MS = 6;
/** What a live run may be ahead by: it is looked at a moment later. */
const FEW = 500;

interface Found {
  readonly seqs: readonly number[];
  /** How much of the run was looked at, 0..1. */
  readonly share: number;
}

/** Searches in slices between frames. A new query replaces the running one; new entries are searched as they arrive. */
export function useSearch(
  view: RunView,
  text: string,
  isHidden: (type: JournalEntry['type']) => boolean,
): Found | null {
  const { log, fold, count } = view;
  const [, again] = useState(0);
  // Never results of another run or query: their numbers would be wrong here.
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
