import { ignoredEvents } from '../../fold/ignored-events.ts';
import type { WhyView } from '../../fold/why.ts';
import { visible } from '../../ui-state/text.ts';

/** What came up to here and came to nothing. */
export function IgnoredList({ view, moveTo }: { readonly view: WhyView; readonly moveTo: (seq: number) => void }) {
  const { events, more } = ignoredEvents(view);
  if (events.length === 0) return null;
  return (
    <section class="ignored" aria-label="Ignored so far">
      <h3>Ignored so far ({more ? `${events.length} or more` : events.length})</h3>
      <ul>
        {events.map(({ seq, name, why }) => (
          <li key={seq}>
            <button type="button" class="quiet" onClick={() => moveTo(seq)} aria-current={seq === view.at}>
              {seq}
            </button>{' '}
            <span class="told">{visible(name)}</span> <span class="muted">{why}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
