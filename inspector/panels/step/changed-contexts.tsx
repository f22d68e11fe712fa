import { useMemo } from 'preact/hooks';
import { stateDifferences } from '../../fold/differences.ts';
import { pluralize } from '../../fold/format.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { Section } from './section.tsx';

const MAX_FIELDS = 25;

/** What the step changed in the contexts of the actors of another program. */
export function ChangedContexts({ view: { fold, selection, at, stateCount } }: { readonly view: PanelView }) {
  const { from } = selection;
  const { to } = fold.externalEvents.stepOf(at);
  const end = Math.min(Math.max(selection.to, to - 1), fold.timeLine.count - 1);
  const groups = useMemo(
    () => (from === 0 ? [] : stateDifferences(fold.states.at(from - 1) ?? {}, fold.states.at(end) ?? {})),
    [fold, from, end, stateCount],
  );
  if (groups.length === 0) return null;
  return (
    <Section title="Changed in the context">
      {groups.map(({ name, fields }) => (
        <div key={name}>
          <h3 class="verbatim">{excerpt(name, 60)}</h3>
          <ul class="changes">
            {fields.slice(0, MAX_FIELDS).map(({ path, before, after }) => (
              <li key={path} class="verbatim">
                <code>{excerpt(path, 120)}</code>: <del>{jsonExcerpt(before, 160)}</del>{' '}
                <ins>{jsonExcerpt(after, 160)}</ins>
              </li>
            ))}
          </ul>
          {fields.length > MAX_FIELDS && (
            <p class="muted">and {pluralize(fields.length - MAX_FIELDS, 'more change')}</p>
          )}
        </div>
      ))}
    </Section>
  );
}
