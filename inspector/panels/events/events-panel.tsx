import { useMemo, useRef, useState } from 'preact/hooks';
import {
  createGroupFilter,
  ENTRY_GROUPS,
  type EntryGroup,
  type EntryList,
  groupCounts,
  listOf,
  originOf,
} from '../../fold/entries.ts';
import type { PanelProps } from '../panel.tsx';
import { asked, EventSearch, useSearch } from './event-search.tsx';
import './events.css';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';
import './entry-detail.css';
import { grouped, preciseTime } from '../../fold/format.ts';
import { countUpTo } from '../../fold/sorted.ts';
import { entryLine, isBad } from '../../ui-state/entry-line.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { Icon } from '../icon.tsx';
import { JsonTree } from '../json-tree.tsx';
import { ROW_PX, useRows } from './use-rows.ts';

/** All entries of the run, those after the cursor too; and the one at the cursor, whole. */
export function EventsPanel({ inspector, view }: PanelProps) {
  const hidden = asked.hidden.value;
  const text = asked.text.value;
  const [isShut, shut] = useState(false);
  const filter = useMemo(() => createGroupFilter(view.fold.places, hidden), [view.fold, hidden]);
  const found = useSearch(view, text, filter.isHidden);
  const isCut = found !== null && asked.onlyFound.value;
  const list = isCut ? listOf(found.seqs) : filter.listOf(view.count);
  return (
    <div class="events">
      <EventSearch inspector={inspector} view={view} found={found} />
      <EventFilter view={view} />
      <EventRows inspector={inspector} view={view} list={list} found={found?.seqs ?? null} />
      <EntryDetail view={view} isShut={isShut} onShut={() => shut(!isShut)} />
    </div>
  );
}

interface DetailProps {
  readonly view: RunView;
  readonly isShut: boolean;
  readonly onShut: () => void;
}

/** The entry at the cursor, whole. */
function EntryDetail({ view: { log, at, count }, isShut, onShut }: DetailProps) {
  const [said, say] = useState({ at, text: '' });
  if (count === 0) return null;
  const entry = log.entry(at);
  const copy = (): void => {
    navigator.clipboard.writeText(JSON.stringify(entry, null, 2)).then(
      () => say({ at, text: 'copied' }),
      () => say({ at, text: 'the browser does not allow copying' }),
    );
  };
  return (
    <section class={isShut ? 'entry-detail shut' : 'entry-detail'} aria-label="Entry at the cursor">
      <header>
        <button type="button" class="fold" aria-expanded={!isShut} onClick={onShut}>
          <Icon name={isShut ? 'shut' : 'open'} /> entry {at} · {shortly(entry.type, 24)}
        </button>
        <span class="muted" role="status">
          {said.at === at ? said.text : ''}
        </span>
        <button type="button" class="copy" onClick={copy}>
          Copy
        </button>
      </header>
      {!isShut && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it
        <div class="whole" tabIndex={0}>
          <JsonTree value={entry} />
        </div>
      )}
    </section>
  );
}

/** Which kinds of entries are listed, and how many there are of each. */
function EventFilter({ view }: { readonly view: RunView }) {
  const counts = useMemo(() => groupCounts(view.fold.places), [view.fold, view.count]);
  const hidden = asked.hidden.value;
  const turn = (group: EntryGroup): void => {
    const next = new Set(hidden);
    if (!next.delete(group)) next.add(group);
    asked.hidden.value = next;
  };
  return (
    <fieldset class="event-filter" aria-label="Entry kinds">
      {ENTRY_GROUPS.map((group) => (
        <button
          key={group}
          type="button"
          aria-pressed={!hidden.has(group)}
          title={`${group}: double-click to show only these`}
          onClick={() => turn(group)}
          onDblClick={() => {
            asked.hidden.value = new Set(ENTRY_GROUPS.filter((other) => other !== group));
          }}
        >
          {group} <span class="muted count">{grouped(counts.get(group) ?? 0)}</span>
        </button>
      ))}
      <button
        type="button"
        class="all"
        disabled={hidden.size === 0}
        onClick={() => {
          asked.hidden.value = new Set();
        }}
      >
        all
      </button>
    </fieldset>
  );
}

interface RowsProps extends PanelProps {
  readonly list: EntryList;
  /** The matches, ascending; null without a search. */
  readonly found: readonly number[] | null;
}

const MARKS = { outside: '»', chart: '•', note: '~' } as const;
const ORIGINS = { outside: 'external event', chart: 'from the chart', note: 'annotation' } as const;

/** The list: a row a line, and only those that are seen are there. */
function EventRows({ inspector, view, list, found }: RowsProps) {
  const { log, fold, at } = view;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const place = list.placeOf(at);
  const rows = useRows(box, {
    size: list.size,
    place,
    key: `${at} ${place}`,
    mayStay: inspector.cursor.value === null,
  });
  const lineOf = useMemo(() => lineMemory(log), [log]);
  const chosen = Math.min(active ?? place, list.size - 1);

  function hear(event: KeyboardEvent): void {
    const next = placeAfter(event.key, chosen, rows.page, list.size);
    if (event.key === 'Enter' && chosen >= 0) inspector.moveTo(list.seqAt(chosen));
    else if (next !== null) {
      setActive(next);
      rows.show(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const isFound = (seq: number): boolean => found !== null && found[countUpTo(found, seq) - 1] === seq;
  const places = Array.from({ length: Math.max(0, rows.end - rows.first) }, (_, row) => rows.first + row);
  return (
    <div
      ref={box}
      class="event-rows"
      role="listbox"
      tabIndex={0}
      aria-label="Events"
      aria-activedescendant={chosen >= rows.first && chosen < rows.end ? `event-${list.seqAt(chosen)}` : undefined}
      onKeyDown={hear}
      onBlur={() => setActive(null)}
    >
      {list.size === 0 && <p class="muted">No entries of this kind.</p>}
      <div role="presentation" style={{ height: `${list.size * ROW_PX}px` }}>
        <div role="presentation" class="seen" style={{ transform: `translateY(${rows.first * ROW_PX}px)` }}>
          {places.map((row) => {
            const seq = list.seqAt(row);
            const { text, bad } = lineOf(seq);
            const type = fold.places.typeOf(seq);
            const origin = originOf(type);
            const kinds = [
              'event-row',
              origin,
              seq === at && 'at',
              seq > at && 'later',
              active === row && 'active',
              bad && 'bad',
              isFound(seq) && 'found',
            ];
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list hears the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names its active row
              <div
                key={seq}
                id={`event-${seq}`}
                class={kinds.filter(Boolean).join(' ')}
                role="option"
                aria-selected={seq === at}
                aria-posinset={row + 1}
                aria-setsize={list.size}
                onClick={() => inspector.moveTo(seq)}
              >
                <span class="seq">{seq}</span>
                <span class="time">{preciseTime(fold.timeLine.atMs(seq))}</span>
                <span class="type" title={ORIGINS[origin]}>
                  <span class="mark" aria-hidden="true">
                    {MARKS[origin]}
                  </span>
                  {shortly(type, 24)}
                </span>
                <span class="line told">{text}</span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function placeAfter(key: string, from: number, page: number, size: number): number | null {
  const to: Readonly<Record<string, number>> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + page,
    PageUp: from - page,
  };
  const next = to[key];
  return next === undefined ? null : Math.max(0, Math.min(size - 1, next));
}

const REMEMBERED = 1_000;

/** The line of an entry, made once while it is in sight. */
function lineMemory(log: RunLog): (seq: number) => { readonly text: string; readonly bad: boolean } {
  const lines = new Map<number, { readonly text: string; readonly bad: boolean }>();
  return (seq) => {
    const there = lines.get(seq);
    if (there !== undefined) return there;
    const entry = log.entry(seq);
    const line = { text: entryLine(entry), bad: isBad(entry) };
    if (lines.size >= REMEMBERED) lines.clear();
    lines.set(seq, line);
    return line;
  };
}
