import { useMemo } from 'preact/hooks';
import { ENTRY_GROUPS, type EntryGroup } from '../../fold/entry-groups.ts';
import { groupCounts } from '../../fold/entry-list.ts';
import { grouped } from '../../fold/number-words.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { asked } from './asked.ts';

/** Which kinds of entries are listed, and how many there are of each. */
export function EventFilter({ view }: { readonly view: RunView }) {
  const counts = useMemo(() => groupCounts(view.fold.places), [view.fold, view.count]);
  const hidden = asked.hidden.value;
  const turn = (group: EntryGroup): void => {
    const next = new Set(hidden);
    if (!next.delete(group)) next.add(group);
    asked.hidden.value = next;
  };
  return (
    <fieldset class="event-filter" aria-label="Kinds of events">
      {ENTRY_GROUPS.map((group) => (
        <button
          key={group}
          type="button"
          aria-pressed={!hidden.has(group)}
          title={`${group}: a double click leaves only these`}
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
