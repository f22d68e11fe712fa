import { useMemo, useState } from 'preact/hooks';
import { createGroupFilter, listOf } from '../../fold/entry-list.ts';
import type { PanelProps } from '../panel-props.ts';
import { asked } from './asked.ts';
import { EntryDetail } from './entry-detail.tsx';
import { EventFilter } from './event-filter.tsx';
import { EventRows } from './event-rows.tsx';
import { EventSearch } from './event-search.tsx';
import './events.css';
import { useSearch } from './use-search.ts';

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
