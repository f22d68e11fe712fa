import { stateAt } from '../../fold/state-at.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';
import { JsonTree } from '../json-tree.tsx';

/** The contexts of the actors of a foreign system at the cursor, by their names. */
export function ActorContexts({ view: { log, fold, at } }: { readonly view: RunView }) {
  const contexts = stateAt(log, fold.places, at);
  if (typeof contexts !== 'object' || contexts === null)
    return <p class="muted">No actor has told its context up to here.</p>;
  return (
    <>
      {Object.entries(contexts).map(([name, context]) => (
        <section key={name} aria-label={`Context of ${name}`}>
          <h2 class="told">{shortly(name, 80)}</h2>
          <JsonTree value={context} />
        </section>
      ))}
    </>
  );
}
