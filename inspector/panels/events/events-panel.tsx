import './events.css';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { entryTrouble } from '../../../src/chain/presentation/entry-words.ts';
import { type EntryList, entryListOf, originOfType, wholeList } from '../../fold/entries.ts';
import { formatTime } from '../../fold/format.ts';
import { excerpt } from '../../fold/text.ts';
import { entryLine } from '../../ui-state/entry-line.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { CopyButton } from '../copy-button.tsx';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { indexAfter, isSeen, reveal, useWindow } from '../trace/use-window.ts';
import { EventSearch, search, useSearch } from './event-search.tsx';

/** The height in events.css, and the rows kept visible around the cursor. */
const [ROW_PX, MARGIN] = [18, 2];

/** All entries, or those that a search found, and the one at the cursor. */
export function EventsPanel({ inspector, view }: PanelProps) {
  const found = useSearch(view, search.text.value);
  const list = found === null ? wholeList(view.count) : entryListOf(found.seqs);
  return (
    <div class="events">
      <EventSearch inspector={inspector} view={view} found={found} />
      <EventRows inspector={inspector} view={view} list={list} />
      {view.count > 0 && <EntryDetail view={view} />}
    </div>
  );
}

function EntryDetail({ view: { log, at } }: { readonly view: PanelView }) {
  const entry = log.entry(at);
  return (
    <section class="entry-detail" aria-label="Entry at the cursor">
      <header class="row">
        <b>
          entry {at} · {excerpt(entry.type, 24)}
        </b>
        <CopyButton key={at} what="entry" text={() => JSON.stringify(entry, null, 2)} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it */}
      <div class="whole" tabIndex={0}>
        <JsonTree value={entry} />
      </div>
    </section>
  );
}

const MARKS = { outside: '»', chart: '•', note: '~' } as const;
const ORIGINS = { outside: 'external event', chart: 'from the chart', note: 'annotation' } as const;

/** Only visible rows are rendered. */
function EventRows({ inspector, view, list }: PanelProps & { readonly list: EntryList }) {
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
  const lineOf = useMemo(() => lineMemory(log, view.run.kind), [log]);
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
      {list.size === 0 && <p class="muted">No entry matches.</p>}
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
  readonly onChoose: () => void;
}

function EventRow({ view: { fold, at }, seq, row, rows, line, isActive, onChoose }: EventRowProps) {
  const type = fold.entries.typeOf(seq);
  const origin = originOfType(type);
  const kinds = [seq === at && 'at', seq > at && 'later', isActive && 'active', line.bad && 'bad'];
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

function lineMemory(log: RunLog, kind: PanelView['run']['kind']): (seq: number) => Line {
  const lines = new Map<number, Line>();
  return (seq) => {
    const cached = lines.get(seq);
    if (cached !== undefined) return cached;
    const entry = log.entry(seq);
    const line = { text: entryLine(entry, kind), bad: entryTrouble(entry) === 'failed' };
    if (lines.size >= CACHE_SIZE) lines.clear();
    lines.set(seq, line);
    return line;
  };
}
