import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  createGroupFilter,
  ENTRY_GROUPS,
  type EntryGroup,
  type EntryList,
  entryListOf,
  groupCounts,
  originOfType,
} from '../../fold/entries.ts';
import type { PanelProps } from '../panel.tsx';
import { EventSearch, search, useSearch } from './event-search.tsx';
import './events.css';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { formatNumber, formatTime } from '../../fold/format.ts';
import { countUpTo } from '../../fold/sorted.ts';
import { excerpt } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { entryLine } from '../../ui-state/entry-line.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { JsonTree } from '../json-tree.tsx';
import { indexAfter, isSeen, reveal, useWindow } from '../trace/use-window.ts';

/** The height in events.css, and the rows kept visible around the cursor. */
const [ROW_PX, MARGIN] = [18, 2];

function isBad(entry: JournalEntry): boolean {
  if (entry.type === 'failed' || ('failure' in entry && entry.failure)) return true;
  if (entry.type === 'activity-event') return entry.event?.type === 'failed' || entry.event?.type === 'reply.lost';
  return entry.type === 'capability-end' && entry.result?.success === false;
}

export function EventsPanel({ inspector, view }: PanelProps) {
  const hidden = search.hidden.value;
  const text = search.text.value;
  const [isCollapsed, setCollapsed] = useState(false);
  const filter = useMemo(() => createGroupFilter(view.fold.entries, hidden), [view.fold, hidden]);
  const found = useSearch(view, text, filter.isHidden);
  const isCut = found !== null && search.onlyFound.value;
  const list = isCut ? entryListOf(found.seqs) : filter.listOf(view.count);
  return (
    <div class="events">
      <EventSearch inspector={inspector} view={view} found={found} />
      <EventFilter view={view} />
      <EventRows inspector={inspector} view={view} list={list} found={found?.seqs ?? null} />
      <EntryDetail view={view} isCollapsed={isCollapsed} onToggle={() => setCollapsed(!isCollapsed)} />
    </div>
  );
}

interface DetailProps {
  readonly view: PanelView;
  readonly isCollapsed: boolean;
  readonly onToggle: () => void;
}

function EntryDetail({ view: { log, at, count }, isCollapsed, onToggle }: DetailProps) {
  const [copyStatus, setCopyStatus] = useState({ at, text: '' });
  if (count === 0) return null;
  const entry = log.entry(at);
  const copy = (): void => {
    navigator.clipboard.writeText(JSON.stringify(entry, null, 2)).then(
      () => setCopyStatus({ at, text: 'copied' }),
      () => setCopyStatus({ at, text: 'the browser does not allow copying' }),
    );
  };
  return (
    <section class={isCollapsed ? 'entry-detail collapsed' : 'entry-detail'} aria-label="Entry at the cursor">
      <header class="row">
        <button type="button" class="fold plain" aria-expanded={!isCollapsed} onClick={onToggle}>
          <Icon name={isCollapsed ? 'collapsed' : 'expanded'} /> entry {at} · {excerpt(entry.type, 24)}
        </button>
        <span class="muted" role="status">
          {copyStatus.at === at ? copyStatus.text : ''}
        </span>
        <button type="button" class="copy" onClick={copy}>
          Copy
        </button>
      </header>
      {!isCollapsed && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it
        <div class="whole" tabIndex={0}>
          <JsonTree value={entry} />
        </div>
      )}
    </section>
  );
}

function EventFilter({ view }: { readonly view: PanelView }) {
  const counts = useMemo(() => groupCounts(view.fold.entries), [view.fold, view.count]);
  const hidden = search.hidden.value;
  const toggle = (group: EntryGroup): void => {
    const next = new Set(hidden);
    if (!next.delete(group)) next.add(group);
    search.hidden.value = next;
  };
  return (
    <fieldset class="event-filter row" aria-label="Entry kinds">
      {ENTRY_GROUPS.map((group) => (
        <button
          key={group}
          type="button"
          aria-pressed={!hidden.has(group)}
          title={`${group}: double-click to show only these`}
          onClick={() => toggle(group)}
          onDblClick={() => {
            search.hidden.value = new Set(ENTRY_GROUPS.filter((other) => other !== group));
          }}
        >
          {group} <span class="muted count">{formatNumber(counts.get(group) ?? 0)}</span>
        </button>
      ))}
      <button
        type="button"
        class="all"
        disabled={hidden.size === 0}
        onClick={() => {
          search.hidden.value = new Set();
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

/** Only visible rows are rendered. */
function EventRows({ inspector, view, list, found }: RowsProps) {
  const { log, at } = view;
  const rows = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const index = list.indexOf(at);
  const [seen, measure] = useWindow(rows);
  const show = (row: number): void => {
    if (rows.current !== null) reveal(rows.current, (row - MARGIN) * ROW_PX, (2 * MARGIN + 1) * ROW_PX, 0);
    measure();
  };
  const shown = useRef(index);
  useLayoutEffect(() => {
    // While it follows the run, the list stays where the user has scrolled to.
    const isFollowing = inspector.cursor.value === null && shown.current !== index;
    if (!isFollowing || (rows.current !== null && isSeen(rows.current, shown.current * ROW_PX, ROW_PX))) show(index);
    shown.current = index;
  }, [`${at} ${index}`]);
  const first = Math.max(0, Math.min(list.size, Math.floor(seen.from / ROW_PX)));
  const end = Math.max(first, Math.min(list.size, Math.ceil(seen.to / ROW_PX)));
  const lineOf = useMemo(() => lineMemory(log), [log]);
  const selected = Math.min(active ?? index, list.size - 1);

  function onKeyDown(event: KeyboardEvent): void {
    const next = indexAfter(event.key, selected, list.size);
    if (event.key === 'Enter' && selected >= 0) inspector.moveTo(list.seqAt(selected));
    else if (next !== null) {
      setActive(next);
      show(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div
      class="event-rows"
      role="listbox"
      tabIndex={0}
      aria-label="Events"
      aria-activedescendant={selected >= first && selected < end ? `event-${list.seqAt(selected)}` : undefined}
      onKeyDown={onKeyDown}
      onBlur={() => setActive(null)}
    >
      {list.size === 0 && <p class="muted">No entries of this kind.</p>}
      <div ref={rows} role="presentation" style={{ height: `${list.size * ROW_PX}px` }}>
        <div role="presentation" class="visible-rows" style={{ transform: `translateY(${first * ROW_PX}px)` }}>
          {Array.from({ length: end - first }, (_, at) => first + at).map((row) => {
            const seq = list.seqAt(row);
            return (
              <EventRow
                key={seq}
                view={view}
                seq={seq}
                row={row}
                rows={list.size}
                line={lineOf(seq)}
                isActive={active === row}
                isFound={found !== null && found[countUpTo(found, seq) - 1] === seq}
                onChoose={() => inspector.moveTo(seq)}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface EventRowProps {
  readonly view: PanelView;
  readonly seq: number;
  readonly row: number;
  readonly rows: number;
  readonly line: Line;
  readonly isActive: boolean;
  readonly isFound: boolean;
  readonly onChoose: () => void;
}

function EventRow({ view: { fold, at }, seq, row, rows, line, isActive, isFound, onChoose }: EventRowProps) {
  const type = fold.entries.typeOf(seq);
  const origin = originOfType(type);
  const kinds = [seq === at && 'at', seq > at && 'later', isActive && 'active', line.bad && 'bad', isFound && 'found'];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active row
    <div
      id={`event-${seq}`}
      class={['event-row', origin, ...kinds].filter(Boolean).join(' ')}
      role="option"
      aria-selected={seq === at}
      aria-posinset={row + 1}
      aria-setsize={rows}
      onClick={onChoose}
    >
      <span class="seq">{seq}</span>
      <span class="time">{formatTime(fold.timeLine.atMs(seq))}</span>
      <span class="type" title={ORIGINS[origin]}>
        <span class="mark" aria-hidden="true">
          {MARKS[origin]}
        </span>
        {excerpt(type, 24)}
      </span>
      <span class="line verbatim">{line.text}</span>
    </div>
  );
}

const CACHE_SIZE = 1_000;

interface Line {
  readonly text: string;
  readonly bad: boolean;
}

function lineMemory(log: RunLog): (seq: number) => Line {
  const lines = new Map<number, Line>();
  return (seq) => {
    const cached = lines.get(seq);
    if (cached !== undefined) return cached;
    const entry = log.entry(seq);
    const line = { text: entryLine(entry), bad: isBad(entry) };
    if (lines.size >= CACHE_SIZE) lines.clear();
    lines.set(seq, line);
    return line;
  };
}
