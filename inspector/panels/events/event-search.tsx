import { useLayoutEffect, useRef } from 'preact/hooks';
import { grouped } from '../../fold/number-words.ts';
import { countUpTo } from '../../fold/sorted.ts';
import { Icon } from '../icon.tsx';
import type { PanelProps } from '../panel-props.ts';
import { asked } from './asked.ts';
import type { Found } from './use-search.ts';

interface SearchProps extends PanelProps {
  readonly found: Found | null;
}

/** What is searched for, how much was found, and the way from one to the next. */
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
        aria-label="The one before"
        title="The one before (Shift+Enter)"
        disabled={none}
        onClick={() => go(-1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        aria-label="The next one"
        title="The next one (Enter)"
        disabled={none}
        onClick={() => go(1)}
      >
        <Icon name="down" />
      </button>
      <span class="event-hits" role="status">
        {found === null ? '' : hitsText(found, view.at)}
      </span>
      <label>
        <input
          type="checkbox"
          aria-label="List only these"
          checked={asked.onlyFound.value}
          onChange={({ currentTarget }) => {
            asked.onlyFound.value = currentTarget.checked;
          }}
        />
        only these
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
