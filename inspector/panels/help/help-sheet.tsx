import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Key, knownKeys } from '../../shown/keys.ts';

const GROUPS: readonly Key['group'][] = ['Move', 'Panels', 'Chart', 'Page'];

/** All keys of the page. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before anything is drawn: the next key is the sheet's already.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      {GROUPS.map((group) => (
        <section key={group} aria-label={group}>
          <h3>{group}</h3>
          <dl>
            {knownKeys
              .filter((key) => key.group === group)
              .map(({ keys, does }) => (
                <div key={does}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key === ' ' ? 'Space' : key}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
