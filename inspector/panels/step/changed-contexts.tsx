import { useMemo } from 'preact/hooks';
import type { SystemState } from '../../../src/inspection/wire.ts';
import { type FieldGroup, stateDifferences } from '../../fold/differences.ts';
import { actorIn } from '../../fold/explain.ts';
import { pluralize } from '../../fold/format.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { Section } from './section.tsx';

const MAX_FIELDS = 25;

type Contexts = Readonly<Record<string, unknown>>;

/** The contexts of the machines of a system after an entry, by the names of their actors. */
const contextsAt = ({ states }: RunFold, seq: number): Contexts =>
  Object.fromEntries(
    Object.entries((states.at(seq) ?? {}) as SystemState).flatMap(([path, { chart, context }]) =>
      chart === null ? [] : [[path === '' ? chart : path.split('/').slice(1).map(actorIn).join(' › '), context]],
    ),
  );

/** The changes of machines that have not ended. */
const changesBetween = (before: Contexts, after: Contexts): readonly FieldGroup[] =>
  stateDifferences(before, after).filter(({ name }) => Object.hasOwn(after, name));

/** What the step changed in the contexts of the actors of another program. */
export function ChangedContexts({ view: { fold, selection, at, stateCount } }: { readonly view: PanelView }) {
  const { from } = selection;
  const { to } = fold.externalEvents.stepOf(at);
  const end = Math.min(Math.max(selection.to, to - 1), fold.timeLine.count - 1);
  const groups = useMemo(
    () => changesBetween(contextsAt(fold, from - 1), contextsAt(fold, end)),
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
